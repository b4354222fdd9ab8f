import { Module } from '@nestjs/common';
import { Engine } from '../../src/database/engine.js';
import { mintKey } from '../../src/keys/api-key-format.js';
import { KeyList } from '../../src/keys/key-list.js';
import { KeysService, type RotatedKey } from '../../src/keys/keys.service.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { sendRaw } from '../support/raw-answers.js';
import { startService, type TestService } from '../support/start-service.js';

@Module({})
class OrdersModule {}

const CHALLENGE = 'Bearer realm="pet-store"';
const INVALID = `${CHALLENGE}, error="invalid_token"`;

describe('authentication', () => {
  let service: TestService;
  let clock: FakeClock;
  let keys: KeysService;
  let key: string;
  beforeAll(async () => {
    clock = new FakeClock();
    const orders = { module: OrdersModule, scopes: { 'orders:read': 'Read orders.' } };
    service = await startService({ clock, extensions: [orders] });
    keys = service.store.app.get(KeysService);
    key = (await service.client()).key!;
  });
  afterAll(() => service?.close());
  // Each test within what one address may fail at.
  beforeEach(() => clock.advance(60_000));

  const get = (authorization?: string | string[]) =>
    service.anonymous().get('/v1/pets', authorization === undefined ? {} : { authorization });

  it.each(['Bearer', 'bearer', 'BEARER'])('takes the scheme %s', async (scheme) => {
    expect((await get(`${scheme} ${key}`)).status).toBe(200);
    expect((await get(`${scheme}   ${key}`)).status).toBe(200);
  });

  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['a scheme alone', 'Bearer'],
    ['an empty key', 'Bearer   '],
    ['another scheme', 'Basic cGV0OnN0b3Jl'],
    ['a key without a scheme', 'psk_x'],
  ])('answers 401 missing_api_key to %s', async (_what, authorization) => {
    const answer = await get(authorization);
    expectError(answer, 401, 'missing_api_key');
    expect(answer.headers['www-authenticate']).toBe(CHALLENGE);
    expectRateHeaders(answer);
  });

  it.each([
    ['an unknown key', () => mintKey()],
    ['a short one', () => 'psk_1'],
    ['a wrong checksum', () => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
    ['another prefix', () => key.replace('psk_', 'sk__')],
    ['something after it', () => `${key} x`],
    ['a tab before it', () => `\t${key}`],
    ['other case', () => key.toUpperCase()],
    ['a very long one', () => 'x'.repeat(8_000)],
  ])('answers 401 invalid_api_key to %s', async (_what, wrong) => {
    const answer = await get(`Bearer ${wrong()}`);
    expectError(answer, 401, 'invalid_api_key');
    expect(answer.headers['www-authenticate']).toBe(INVALID);
    expectRateHeaders(answer);
  });

  it.each(['\t', '\u00a0', '\t '])('takes no scheme apart from its key at %j', async (between) => {
    const answer = await get(`Bearer${between}${key}`);
    expectError(answer, 401, 'invalid_api_key');
    expect(answer.headers['www-authenticate']).toBe(INVALID);
  });

  it.each([
    ['the same key twice', () => [key, key]],
    ['a valid and a wrong one', () => [key, mintKey()]],
    ['a wrong and a valid one', () => [mintKey(), key]],
    ['an empty and a valid one', () => ['', key]],
  ])('answers 401 to two headers: %s', async (_what, both) => {
    const [first, second] = both();
    const text = await sendRaw(
      service.origin,
      `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${first}\r\n` +
        `AUTHORIZATION: Bearer ${second}\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(text.toLowerCase()).toContain(`www-authenticate: ${INVALID}`.toLowerCase());
  });

  it.each([
    ['GET', '/v1/pets'],
    ['HEAD', '/v1/pets'],
    ['GET', '/v1/pets?limit=nonsense'],
    ['GET', '/v1/pets/1'],
    ['GET', '/v1/nope'],
    ['GET', '/v1/pets/'],
    ['GET', '/v1/%zz'],
    ['PUT', '/v1/pets'],
    ['OPTIONS', '/v1/pets'],
    ['POST', '/v1/pets', '{"name":'],
    ['POST', '/v1/pets', 'x'.repeat(100_000)],
  ])('asks who it is before anything else: %s %s', async (method, path, body = '') => {
    const sent = body === '' ? {} : { body };
    const answer = await service.anonymous().send(path, { method, ...sent });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe(CHALLENGE);
    expectRateHeaders(answer);
  });

  it('asks the database nothing for a key whose checksum is wrong', async () => {
    const first = jest.spyOn(service.store.app.get(Engine), 'first');
    const lookUps = () => first.mock.calls.filter(([{ name }]) => name === 'keys.find-by-digest');
    await get(`Bearer ${mintKey().slice(0, -6)}000000`);
    expect(lookUps()).toHaveLength(0);
    await get(`Bearer ${mintKey()}`);
    expect(lookUps()).toHaveLength(1);
    first.mockRestore();
  });

  it('answers 401 invalid_api_key to a key that was revoked or has expired before', async () => {
    const revoked = await service.client();
    await keys.revoke(revoked.keyId!);
    const expired = await service.client({ expiresAt: clock.now() + 1 });
    clock.advance(1);
    for (const client of [revoked, expired]) {
      const answer = await client.get('/v1/pets');
      expectError(answer, 401, 'invalid_api_key');
      expect(answer.headers['www-authenticate']).toBe(INVALID);
      expectRateHeaders(answer);
    }
  });

  it('ends a key at the moment it expires', async () => {
    const client = await service.client({ expiresAt: clock.now() + 1_000 });
    expect((await client.get('/v1/pets')).status).toBe(200);
    clock.advance(999);
    expect((await client.get('/v1/pets')).status).toBe(200);
    clock.advance(1);
    expectError(await client.get('/v1/pets'), 401, 'invalid_api_key');
  });

  it('ends a revoked key within a second', async () => {
    const client = await service.client();
    expect((await client.get('/v1/pets')).status).toBe(200);
    await keys.revoke(client.keyId!);
    await eventually(async () => (await client.get('/v1/pets')).status === 401);
  });

  it('keeps a rotated key for its grace period, on the same counters', async () => {
    const old = await service.client({ name: 'zoo', plan: 'pro' });
    await old.get('/v1/pets');
    const rotated = await keys.rotate(old.keyId!, 5_000);
    const fresh = new Client(service.origin, rotated.key);
    expect((await fresh.get('/v1/pets')).headers['x-ratelimit-remaining']).toBe('298');
    expect((await old.get('/v1/pets')).headers['x-ratelimit-remaining']).toBe('297');
    expect(rotated.record).toMatchObject({ name: 'zoo', plan: 'pro', expiresAt: null });
    clock.advance(5_000);
    await eventually(async () => (await old.get('/v1/pets')).status === 401);
    expect((await fresh.get('/v1/pets')).status).toBe(200);
  });

  it('rotates once of any number at the same time, and leaves no key behind by the others', async () => {
    const old = await service.client();
    const rotations = await Promise.allSettled(
      Array.from({ length: 8 }, () => keys.rotate(old.keyId!, 60_000)),
    );
    const done = rotations.filter(({ status }) => status === 'fulfilled');
    expect(done).toHaveLength(1);
    const [rotated] = done as [PromiseFulfilledResult<RotatedKey>];
    const named = await service.store.app.get(KeyList).find({ search: old.keyId! });
    expect(named.map(({ id }) => id).sort()).toEqual([old.keyId, rotated.value.record.id].sort());
    expect(named.find(({ id }) => id === old.keyId)!.replacedBy).toBe(rotated.value.record.id);
  });

  it('puts a new plan in force within a second, with what is used already', async () => {
    const client = await service.client({ plan: 'free' });
    expect((await client.get('/v1/pets')).headers['x-ratelimit-limit']).toBe('60');
    await keys.setPlan(client.keyId!, 'business', {});
    await eventually(
      async () => (await client.get('/v1/pets')).headers['x-ratelimit-limit'] === '1000',
    );
  });

  it('has spent its quota by 403, and is refused by quota before scope', async () => {
    const reader = await service.client({
      ...{ plan: 'enterprise', perMinute: 2, perDay: 9 },
      scopes: ['pets:read'],
    });
    const post = () => reader.post('/v1/pets', {});
    const refused = await post();
    expectError(refused, 403, 'insufficient_scope');
    expect(refused.headers['www-authenticate']).toBe(
      'Bearer realm="pet-store", error="insufficient_scope", scope="pets:write"',
    );
    expectError(await post(), 403, 'insufficient_scope');
    expectError(await post(), 429, 'rate_limit_exceeded');
  });

  describe('scopes', () => {
    const rex = { name: 'Rex', categoryId: 7 };

    it('lets a reader read, and refuses it to write before its body is read', async () => {
      const reader = await service.client({ scopes: ['pets:read'] });
      expect((await reader.get('/v1/pets')).status).toBe(200);
      const answer = await reader.post('/v1/pets', 'no json');
      expectError(answer, 403, 'insufficient_scope');
      expectRateHeaders(answer);
    });

    it('lets a writer write, and refuses it to read', async () => {
      const writer = await service.client({ scopes: ['pets:write'] });
      expect((await writer.post('/v1/pets', rex)).status).toBe(201);
      expectError(await writer.get('/v1/pets'), 403, 'insufficient_scope');
      expectError(await writer.get('/v1/pets/1'), 403, 'insufficient_scope');
    });

    it('judges a wrong path and method before the scope, which they have none of', async () => {
      const other = await service.client({ scopes: ['orders:read'] });
      expectError(await other.get('/v1/nope'), 404, 'not_found');
      expectError(await other.send('/v1/pets', { method: 'PUT' }), 405, 'method_not_allowed');
    });
  });
});
