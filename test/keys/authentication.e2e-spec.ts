import { Module } from '@nestjs/common';
import { NOW } from '../../src/core/database/database-time.js';
import { mintKey } from '../../src/core/keys/api-key-format.js';
import { KeysService } from '../../src/core/keys/keys.service.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { keyCached } from '../support/key-cached.js';
import { sendRaw } from '../support/raw-answers.js';
import { onPostgres, useService } from '../support/start-service.js';

@Module({})
class OrdersModule {}

const CHALLENGE = 'Bearer realm="pet-store"';
const INVALID = `${CHALLENGE}, error="invalid_token"`;

describe('authentication', () => {
  const clock = new FakeClock();
  const orders = { module: OrdersModule, scopes: { 'orders:read': 'Read orders.' } };
  const { service, client } = useService({ clock, extensions: [orders] });
  let keys: KeysService;
  let key: string;
  beforeAll(() => {
    keys = service.store.app.get(KeysService);
    key = client.key!;
  });
  // Each test starts with a new limit for failed authentication.
  beforeEach(() => clock.advance(60_000));

  const get = (authorization?: string | string[]) =>
    service.anonymous().get('/v1/pets', authorization === undefined ? {} : { authorization });

  it.each(['Bearer', 'bearer', 'BEARER'])('accepts the scheme %s', async (scheme) => {
    expect((await get(`${scheme} ${key}`)).status).toBe(200);
    expect((await get(`${scheme}   ${key}`)).status).toBe(200);
  });

  it.each([undefined, '', 'Bearer', 'Bearer   ', 'Basic cGV0OnN0b3Jl', 'psk_x'])(
    'answers 401 missing_api_key to %j',
    async (authorization) => {
      const answer = await get(authorization);
      expectError(answer, 401, 'missing_api_key');
      expect(answer.headers['www-authenticate']).toBe(CHALLENGE);
      expectRateHeaders(answer);
    },
  );

  it.each([
    ['an unknown key', () => ` ${mintKey()}`],
    ['a short key', () => ' psk_1'],
    ['a wrong checksum', () => ` ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
    ['another prefix', () => ` ${key.replace('psk_', 'sk__')}`],
    ['a key followed by text', () => ` ${key} x`],
    ['a key after a tab', () => `\t${key}`],
    ['a key after a space and a tab', () => ` \t${key}`],
    ['a key after a no-break space', () => `\u00a0${key}`],
    ['a key in upper case', () => ` ${key.toUpperCase()}`],
    ['a very long token', () => ` ${'x'.repeat(8_000)}`],
  ])('answers 401 invalid_api_key to %s', async (_what, token) => {
    const answer = await get(`Bearer${token()}`);
    expectError(answer, 401, 'invalid_api_key');
    expect(answer.headers['www-authenticate']).toBe(INVALID);
    expectRateHeaders(answer);
  });

  it.each([
    ['the same key twice', () => [`Bearer ${key}`, `Bearer ${key}`]],
    ['a valid and a wrong key', () => [`Bearer ${key}`, `Bearer ${mintKey()}`]],
    ['an empty and a valid key', () => ['Bearer ', `Bearer ${key}`]],
    ['another scheme and a valid key', () => ['Basic cGV0', `bearer ${key}`]],
  ])('answers 401 to two headers: %s', async (_what, both) => {
    const fields = both().map((field) => `Authorization: ${field}\r\n`);
    const text = await sendRaw(
      service.origin,
      `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${fields.join('')}Connection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(text.toLowerCase()).toContain(`www-authenticate: ${INVALID}`.toLowerCase());
  });

  it('rejects a key from its expiry on, and a revoked key within a second', async () => {
    const client = await service.client({ expiresAt: clock.now() + 1_000 });
    clock.advance(999);
    expect((await client.get('/v1/pets')).status).toBe(200);
    clock.advance(1);
    expectError(await client.get('/v1/pets'), 401, 'invalid_api_key');
    const revoked = await service.client();
    expect((await revoked.get('/v1/pets')).status).toBe(200);
    await keys.revoke(revoked.keyId!);
    await eventually(async () => (await revoked.get('/v1/pets')).status === 401);
  });

  it('rejects a key that is revoked in the millisecond of its last change', async () => {
    const engine = onPostgres ? 'postgres' : 'sqlite';
    const now = jest.replaceProperty(NOW, engine, String(Date.now()));
    const revoked = await service.client();
    await keyCached(service, revoked);
    await keys.revoke(revoked.keyId!);
    now.restore();
    await eventually(async () => (await revoked.get('/v1/pets')).status === 401);
  });

  it('accepts a rotated key for its grace period, with the same counters', async () => {
    const old = await service.client({ name: 'zoo', plan: 'pro' });
    await old.get('/v1/pets');
    const rotated = await keys.rotate(old.keyId!, 5_000);
    const fresh = new Client(service.origin, rotated.key);
    expect((await fresh.get('/v1/pets')).headers['x-ratelimit-remaining']).toBe('298');
    expect((await old.get('/v1/pets')).headers['x-ratelimit-remaining']).toBe('297');
    expect(rotated.record).toMatchObject({ name: 'zoo', plan: 'pro', expiresAt: null });
    clock.advance(5_000);
    await eventually(async () => (await old.get('/v1/pets')).status === 401);
    const third = new Client(service.origin, (await keys.rotate(rotated.record.id, 0)).key);
    expect((await third.get('/v1/pets')).headers['x-ratelimit-remaining']).toBe('296');
  });

  it('applies a new plan within a second, including to a key issued in the meantime', async () => {
    const client = await service.client({ plan: 'free' });
    expect((await client.get('/v1/pets')).headers['x-ratelimit-limit']).toBe('60');
    const rotation = keys.rotate(client.keyId!, 60_000);
    await Promise.all([rotation, keys.set(client.keyId!, { plan: 'business' })]);
    const limitOf = async (each: Client) =>
      (await each.get('/v1/pets')).headers['x-ratelimit-limit'];
    for (const each of [client, new Client(service.origin, (await rotation).key)]) {
      await eventually(async () => (await limitOf(each)) === '1000');
    }
  });

  it('checks the quota before the scope, and the scope before the body', async () => {
    const limits = { plan: 'enterprise', perMinute: 2, perDay: 9 } as const;
    const reader = await service.client({ ...limits, scopes: ['pets:read'] });
    const post = () => reader.post('/v1/pets', 'no json');
    const rejected = await post();
    expectError(rejected, 403, 'insufficient_scope');
    expectRateHeaders(rejected);
    expect(rejected.headers['www-authenticate']).toBe(
      'Bearer realm="pet-store", error="insufficient_scope", scope="pets:write"',
    );
    expect((await reader.get('/v1/pets')).status).toBe(200);
    expectError(await post(), 429, 'rate_limit_exceeded');
  });

  it('requires the scope of each operation, and none for an unknown one', async () => {
    const writer = await service.client({ scopes: ['pets:write'] });
    expect((await writer.post('/v1/pets', { name: 'Rex', categoryId: 7 })).status).toBe(201);
    expectError(await writer.get('/v1/pets'), 403, 'insufficient_scope');
    expectError(await writer.get('/v1/pets/1'), 403, 'insufficient_scope');
    const other = await service.client({ scopes: ['orders:read'] });
    expectError(await other.get('/v1/nope'), 404, 'not_found');
    expectError(await other.send('/v1/pets', { method: 'PUT' }), 405, 'method_not_allowed');
  });
});
