import { DataSource } from 'typeorm';
import { Database } from '../../src/index.js';
import { type Answer } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { startService, useService } from '../support/start-service.js';

const SUNSET = '2030-12-05T00:00:00.000Z';

function expectDeprecation(answer: Answer, origin: string): void {
  const { port } = new URL(origin);
  expect(answer.headers['deprecation']).toBe('@1764892800');
  expect(answer.headers['sunset']).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
  expect(answer.headers.link).toBe(
    `<http://localhost:${port}/v1/pets>; rel="successor-version", ` +
      `<http://localhost:${port}/docs>; rel="deprecation"; type="text/html"`,
  );
}

describe('GET /v1/pets/{petId}', () => {
  const clock = new FakeClock();
  const { service, client } = useService({ clock });
  beforeAll(async () => {
    await client.post('/v1/pets', { name: 'George', categoryId: 7, status: 'sold' });
  });

  it('returns the pet, to HEAD without a body', async () => {
    const get = await client.get('/v1/pets/1');
    expect(get.text).toBe('{"id":1,"name":"George","categoryId":7,"status":"sold"}');
    const head = await client.send('/v1/pets/1', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expectRateHeaders(get);
    expectRateHeaders(head);
  });

  it.each(['9007199254740993', '9223372036854775806'])('finds the id %s, exactly', async (id) => {
    await service.store.app
      .get(DataSource)
      .query(`INSERT INTO pets (id, name, category_id) VALUES (${id}, 'Far', -${id})`);
    const answer = await client.get(`/v1/pets/${id}`);
    expect(answer.text).toBe(`{"id":${id},"name":"Far","categoryId":-${id}}`);
    expect((await client.get(`/v1/pets/${BigInt(id) - 1n}`)).status).toBe(404);
  });

  it.each([
    ...'2 0 -1 +1 01 1.0 1e0 0x1 1%20 %201 one 1n ١ null 9223372036854775807'.split(' '),
    ...`9223372036854775808 99999999999999999999 1%2F2 %00 1'-- %F0%9F%90%95`.split(' '),
    '1'.repeat(500),
  ])('answers 404 to the id %.40p', async (id) => {
    const answer = await client.get(`/v1/pets/${encodeURI(id).replaceAll('%25', '%')}`);
    expectError(answer, 404, 'pet_not_found');
    expectRateHeaders(answer);
    expectDeprecation(answer, service.origin);
  });

  it('announces its removal on every response of it', async () => {
    const reader = await service.client({ scopes: ['pets:write'] });
    const spent = await service.client({ plan: 'enterprise', perMinute: 1, perDay: 1 });
    await spent.get('/v1/pets');
    const rows: [Promise<Answer>, number][] = [
      [client.get('/v1/pets/1'), 200],
      [client.send('/v1/pets/1', { method: 'HEAD' }), 200],
      [client.get('/v1/pets/1?x=1'), 400],
      [service.anonymous().get('/v1/pets/1'), 401],
      [reader.get('/v1/pets/1'), 403],
      [client.get('/v1/pets/2'), 404],
      [spent.get('/v1/pets/1'), 429],
    ];
    for (const [answer, status] of rows) {
      expect((await answer).status).toBe(status);
      expectDeprecation(await answer, service.origin);
    }
  });

  it.each([
    ['fails', new Error('a fault'), 500],
    ['lacks its database', Object.assign(new Error('away'), { code: 'SQLITE_IOERR' }), 503],
  ])('announces its removal also where it %s', async (_what, failure, status) => {
    const database = service.store.app.get(Database);
    const query = database.query.bind(database);
    const find = jest.spyOn(database, 'query');
    // Background tasks may read at the same time.
    find.mockImplementation((statement, ...values) =>
      statement.name === 'pets.find' ? Promise.reject(failure) : query(statement, ...values),
    );
    const answer = await client.get('/v1/pets/1');
    find.mockRestore();
    expect(answer.status).toBe(status);
    expectRateHeaders(answer);
    expectDeprecation(answer, service.origin);
  });

  it('is gone from its removal date on, for those who may know', async () => {
    clock.set('2030-12-04T23:59:59.999Z');
    expect((await client.get('/v1/pets/1')).status).toBe(200);
    clock.set(SUNSET);
    const gone = await client.get('/v1/pets/1');
    expectError(gone, 410, 'operation_removed');
    expectRateHeaders(gone);
    expectDeprecation(gone, service.origin);
    expectError(await client.get('/v1/pets/999'), 410, 'operation_removed');
    expectError(await service.anonymous().get('/v1/pets/1'), 401, 'missing_api_key');
    const list = await client.get('/v1/pets');
    expect(list.status).toBe(200);
    expect(list.headers).not.toHaveProperty('deprecation');
  });

  it('can be kept for some days more by a setting', async () => {
    const late = new FakeClock(Date.parse(SUNSET));
    await using kept = await startService({ clock: late, env: { SUNSET_EXTENSION_DAYS: '2' } });
    const caller = await kept.client();
    await caller.post('/v1/pets', { name: 'George', categoryId: 7 });
    late.set('2030-12-06T23:59:59.999Z');
    expect((await caller.get('/v1/pets/1')).status).toBe(200);
    late.advance(1);
    expectError(await caller.get('/v1/pets/1'), 410, 'operation_removed');
  });
});
