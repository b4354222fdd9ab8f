import { DataSource } from 'typeorm';
import { deleteIdempotencyRecords } from '../support/background.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { lockWrites } from '../support/lock-writes.js';
import { startService, useService } from '../support/start-service.js';

const rex = '{"name":"Rex","categoryId":9223372036854775807}';

describe('Idempotency-Key', () => {
  const clock = new FakeClock();
  const { service, client } = useService({ clock });

  const post = (key: string | string[], body = rex, as = client) =>
    as.post('/v1/pets', body, { 'idempotency-key': key });
  const count = async (): Promise<number> => (await client.get('/v1/pets?limit=100')).json().length;

  it('returns the first response again, and creates nothing', async () => {
    const first = await post('once');
    expect(first.status).toBe(201);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    const before = await count();
    const again = await post('once');
    expect(again.status).toBe(201);
    expectRateHeaders(again);
    expect(again.text).toBe(first.text);
    expect(again.headers.location).toBe(first.headers.location);
    expect(again.headers['content-type']).toBe(first.headers['content-type']);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await count()).toBe(before);
  });

  it('holds for a request that an extension injects in the same process', async () => {
    const first = await post('injected');
    const again = await service.store.app.inject({
      method: 'POST',
      url: '/v1/pets',
      headers: {
        authorization: `Bearer ${client.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'injected',
      },
      payload: rex,
    });
    expect(again.body).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  it('rejects another body, even one with the same meaning', async () => {
    await post('bodies');
    expectError(
      await post('bodies', '{"name":"Luna","categoryId":1}'),
      422,
      'idempotency_key_reused',
    );
    expectError(await post('bodies', `${rex} `), 422, 'idempotency_key_reused');
    expect((await post('bodies')).headers['idempotent-replayed']).toBe('true');
  });

  it('stores no error: the corrected request may use the same key', async () => {
    expectError(await post('corrected', '{"name":""}'), 400, 'invalid_request');
    expectError(await post('corrected', '{'), 400, 'malformed_json');
    const answer = await post('corrected');
    expect(answer.status).toBe(201);
    expect(answer.headers['idempotent-replayed']).toBeUndefined();
  });

  it('belongs to one client', async () => {
    const other = await service.client();
    const first = await post('shared');
    const second = await post('shared', rex, other);
    expect(second.status).toBe(201);
    expect(second.text).not.toBe(first.text);
  });

  it('accepts a quoted and a bare key as the same key', async () => {
    const first = await post('quoted "x"');
    const again = await post('"quoted \\"x\\""');
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  it('accepts a key of 255 characters', async () => {
    expect((await post('x'.repeat(255))).status).toBe(201);
  });

  it('expires after 24 hours', async () => {
    const first = await post('a day');
    clock.advance(86_400_000 - 1);
    expect((await post('a day')).text).toBe(first.text);
    clock.advance(1);
    const second = await post('a day');
    expect(second.status).toBe(201);
    expect(second.text).not.toBe(first.text);
    expect((await post('a day')).text).toBe(second.text);
  });

  it.each([
    ['empty', ''],
    ['an empty string', '""'],
    ['256 characters', 'x'.repeat(256)],
    ['not ASCII', 'é'],
    ['a tab', 'a\tb'],
    ['given twice', ['a', 'b']],
  ])('is rejected if it is %s', async (_what, key) => {
    const answer = await post(key);
    expectError(answer, 400, 'invalid_request');
    expect(answer.json().message).toMatch(/^Idempotency-Key must be sent once, with 1 to 255/);
  });

  it('is rejected if it contains an API key, because it is stored', async () => {
    for (const key of [client.key!, `"pets of ${client.key}"`]) {
      const answer = await post(key);
      expectError(answer, 400, 'invalid_request');
      expect(answer.json().message).toBe('Idempotency-Key must not contain an API key');
    }
  });

  it('creates one pet for any number of concurrent repeats', async () => {
    const before = await count();
    const answers = await Promise.all(Array.from({ length: 50 }, () => post('at once')));
    for (const answer of answers) {
      if (answer.status === 409) expectError(answer, 409, 'idempotency_key_in_use');
      else expect(answer.status).toBe(201);
    }
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    expect(await count()).toBe(before + 1);
  });

  it('responds to any number of concurrent repeats of a finished request', async () => {
    const first = await post('finished');
    const repeats = (body: string) =>
      Promise.all(Array.from({ length: 30 }, () => post('finished', body)));
    for (const { status, text } of await repeats(rex)) {
      expect([status, text]).toEqual([201, first.text]);
    }
    for (const other of await repeats('{"name":"Luna","categoryId":1}')) {
      expectError(other, 422, 'idempotency_key_reused');
    }
  });

  it('rejects a repeat while the first request is in progress, for this client alone', async () => {
    const other = await service.client();
    const unlock = await lockWrites(service.config.databaseUrl);
    const both = [post('slow'), post('slow')];
    const ofAnotherClient = post('slow', rex, other);
    try {
      const early = await Promise.race(both);
      expectError(early, 409, 'idempotency_key_in_use');
      expectRateHeaders(early);
      expect(early.headers['retry-after']).toBe('1');
    } finally {
      await unlock();
    }
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await ofAnotherClient).status).toBe(201);
    expect((await post('slow')).headers['idempotent-replayed']).toBe('true');
  });

  it('stores nothing of a request that failed: its key is free', async () => {
    const dataSource = service.store.app.get(DataSource);
    await dataSource.query('ALTER TABLE pets RENAME TO hidden_pets');
    expectError(await post('failed'), 500, 'internal_error');
    await dataSource.query('ALTER TABLE hidden_pets RENAME TO pets');
    const answer = await post('failed');
    expect(answer.status).toBe(201);
    expect(answer.headers['idempotent-replayed']).toBeUndefined();
  });

  it('is removed from the database after 24 hours, not before', async () => {
    await using real = await startService();
    const caller = await real.client();
    for (const key of ['over', 'today']) await post(key, rex, caller);
    const records = real.store.app.get(DataSource).getRepository('IdempotencyRecord');
    const yesterday = { createdAt: Date.now() - 86_400_000 };
    await records.update({ idempotencyKey: 'over' }, yesterday);
    await deleteIdempotencyRecords(real);
    expect(await records.find()).toMatchObject([{ idempotencyKey: 'today' }]);
  });
});
