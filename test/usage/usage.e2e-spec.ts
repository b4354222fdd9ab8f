import { KeysService } from '../../src/keys/keys.service.js';
import { UsageRecorder } from '../../src/usage/usage-recorder.js';
import { UsageService } from '../../src/usage/usage.service.js';
import { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { startService, type TestService } from '../support/start-service.js';

const unix = (iso: string): number => Date.parse(iso) / 1000;

describe('GET /v1/usage', () => {
  let service: TestService;
  let clock: FakeClock;
  beforeEach(async () => {
    clock = new FakeClock();
    service = await startService({ clock });
  });
  afterEach(() => service?.close());

  it('returns the plan, the scopes and both windows, and consumes no quota', async () => {
    const client = await service.client({ plan: 'free', scopes: ['pets:write'] });
    await client.post('/v1/pets', { name: 'Rex', categoryId: 7 });
    for (let round = 0; round < 2; round++) {
      const answer = await client.get('/v1/usage');
      expect(answer.status).toBe(200);
      expectRateHeaders(answer);
      expect(answer.headers['x-ratelimit-remaining']).toBe('59');
      expect(answer.json()).toEqual({
        plan: 'free',
        scopes: ['pets:write'],
        limits: {
          minute: { limit: 60, remaining: 59, resetAt: unix('2026-06-15T12:01:00Z') },
          day: { limit: 1_000, remaining: 999, resetAt: unix('2026-06-16T00:00:00Z') },
        },
        bannedUntil: null,
        expiresAt: null,
      });
    }
  });

  it('returns the limits of an Enterprise key and its expiry', async () => {
    const expiresAt = Date.parse('2026-12-24T00:00:00Z');
    const client = await service.client({ plan: 'enterprise', perMinute: 7, perDay: 9, expiresAt });
    const body = (await client.get('/v1/usage')).json();
    expect(body).toMatchObject({
      plan: 'enterprise',
      limits: { minute: { limit: 7, remaining: 7 }, day: { limit: 9, remaining: 9 } },
      expiresAt: expiresAt / 1000,
    });
  });

  it('answers a key that is over its limit or banned', async () => {
    const client = await service.client({ plan: 'enterprise', perMinute: 1, perDay: 9 });
    await client.get('/v1/pets');
    await client.get('/v1/pets');
    const over = (await client.get('/v1/usage')).json();
    expect(over.limits.minute.remaining).toBe(0);
    expect(over.bannedUntil).toBeNull();
    for (let refused = 0; refused < 100; refused++) await client.get('/v1/pets');
    expectError(await client.get('/v1/pets'), 429, 'key_banned');
    const banned = await client.get('/v1/usage');
    expect(banned.status).toBe(200);
    expect(banned.headers['x-ratelimit-remaining']).toBe('0');
    expect(banned.json().bannedUntil).toBe(clock.now() / 1000 + 300);
  });

  it('answers 60 requests a minute, then 429, without a ban and without consuming quota', async () => {
    const [client, other] = await Promise.all([service.client(), service.client()]);
    for (let asked = 0; asked < 60; asked++) {
      // An invalid request counts as well.
      const query = asked % 2 === 0 ? '' : '?of=me';
      expect((await client.get(`/v1/usage${query}`)).status).toBe(query === '' ? 200 : 400);
    }
    expectError(await client.get('/v1/usage?of=me'), 429, 'rate_limit_exceeded');
    for (let refused = 0; refused < 150; refused++) {
      const answer = await client.get('/v1/usage');
      expectError(answer, 429, 'rate_limit_exceeded');
      expect(answer.headers['retry-after']).toBe('30');
    }
    expectRateHeaders(await client.get('/v1/usage'));
    expect((await client.get('/v1/pets')).status).toBe(200);
    expect((await other.get('/v1/usage')).status).toBe(200);
    clock.advance(30_000);
    expect((await client.get('/v1/usage')).status).toBe(200);
  });

  it('requires a valid key, and accepts no parameter', async () => {
    expectError(await service.anonymous().get('/v1/usage'), 401, 'missing_api_key');
    const client = await service.client();
    expectError(await client.get('/v1/usage?window=minute'), 400, 'invalid_request');
    expectError(await client.post('/v1/usage', {}), 405, 'method_not_allowed');
  });
});

it('the usage report has the outcomes of the last 24 hours, and the latest refusals', async () => {
  const clock = new FakeClock(Date.parse('2026-06-15T12:59:00Z'));
  await using service = await startService({ clock, env: { BAN_AFTER_REJECTIONS: '1' } });
  const { app } = service.store;
  const client = await service.client({ perMinute: 3, perDay: 100 });
  const report = () => app.get(UsageService).report(client.keyId!);
  await client.get('/v1/pets');
  await app.get(UsageRecorder).flush();
  for (const path of ['pets', 'pets/7', 'pets']) await client.get(`/v1/${path}`);
  clock.advance(60_000);
  await client.post('/v1/pets', {});
  await service.anonymous().get('/v1/pets');
  await app.get(UsageRecorder).flush();

  const { outcomes, refusals } = await report();
  expect(outcomes).toEqual({
    ok: 2,
    pet_not_found: 1,
    rate_limit_exceeded: 1,
    invalid_request: 1,
  });
  const by = { address: '127.0.0.1', keyId: client.keyId };
  const [before, after] = ['2026-06-15T12:59:00.000Z', '2026-06-15T13:00:00.000Z'];
  const once = (at: string) => ({ at, firstAt: at, count: 1 });
  expect(refusals).toEqual([
    { ...once(after), code: 'invalid_request', operation: 'createPet', ...by, window: null },
    {
      ...once(before),
      code: 'rate_limit_exceeded',
      operation: 'listPets',
      ...by,
      window: 'minute',
    },
    { ...once(before), code: 'pet_not_found', operation: 'getPet', ...by, window: null },
  ]);
  clock.advance(23 * 3_600_000);
  expect((await report()).outcomes).toEqual({ invalid_request: 1 });
});

it('the usage report has the window of the plan that was full, day or minute', async () => {
  await using service = await startService({ clock: new FakeClock() });
  const { app } = service.store;
  for (const [window, limits] of Object.entries({
    minute: { perMinute: 1, perDay: 9 },
    day: { perMinute: 9, perDay: 1 },
  })) {
    const client = await service.client(limits);
    for (let request = 0; request < 2; request++) await client.get('/v1/pets');
    await app.get(UsageRecorder).flush();
    const { refusals } = await app.get(UsageService).report(client.keyId!);
    expect(refusals).toMatchObject([{ code: 'rate_limit_exceeded', window, count: 1 }]);
  }
});

it('the usage history omits a rejected request after 7 days', async () => {
  const clock = new FakeClock();
  await using service = await startService({ clock });
  const client = await service.client();
  const rejected = async () => (await client.get('/v1/usage/history')).json().rejected.length;
  await client.get('/v1/pets/7');
  await service.store.app.get(UsageRecorder).flush();
  clock.advance(7 * 86_400_000);
  expect(await rejected()).toBe(1);
  clock.advance(1);
  expect(await rejected()).toBe(0);
});

it('the usage report tells the keys of a client apart, and the usage history does not', async () => {
  const clock = new FakeClock();
  await using service = await startService({ clock });
  const { app } = service.store;
  const old = await service.client();
  const { key, record } = await app.get(KeysService).rotate(old.keyId!, 60_000);
  const successor = new Client(service.origin, key, record.id);
  await old.get('/v1/pets/7');
  for (let round = 0; round < 12; round++) {
    await old.get('/v1/pets?limit=0');
    clock.advance(1_000);
    await successor.get('/v1/pets?limit=0');
  }
  await app.get(UsageRecorder).flush();

  const { refusals } = await app.get(UsageService).report(old.keyId!);
  expect(refusals).toMatchObject([
    { count: 12, keyId: record.id, code: 'invalid_request' },
    { count: 12, keyId: old.keyId, code: 'invalid_request' },
    { count: 1, keyId: old.keyId, code: 'pet_not_found' },
  ]);
  const { rejected } = (await successor.get('/v1/usage/history')).json();
  const group = { address: '127.0.0.1', window: null };
  const at = Math.floor(clock.now() / 1000);
  expect(rejected).toEqual([
    { ...group, at, firstAt: at - 12, count: 24, code: 'invalid_request', operation: 'listPets' },
    {
      ...group,
      at: at - 12,
      firstAt: at - 12,
      count: 1,
      code: 'pet_not_found',
      operation: 'getPet',
    },
  ]);
  for (const client of [old, successor]) client.close();
});
