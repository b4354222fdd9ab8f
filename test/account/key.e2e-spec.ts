import { saveUsage } from '../support/background.js';
import { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { recordedLog } from '../support/recorded-log.js';
import { jsonInProcess } from '../support/run-program.js';
import { useService } from '../support/start-service.js';

const scopes = ['pets:read', 'key:rotate'];

describe('the operations of a key holder', () => {
  const clock = new FakeClock();
  const { logger, lines } = recordedLog();
  const { service } = useService({ clock, logger, env: { BAN_AFTER_REJECTIONS: '2' } });
  const iso = (aheadMs = 0) => new Date(clock.now() + aheadMs).toISOString();
  const rotate = (client: Client, body?: unknown) =>
    body === undefined
      ? client.send('/v1/key/rotate', { method: 'POST' })
      : client.post('/v1/key/rotate', body);
  const petstore = (...argv: string[]) =>
    jsonInProcess(service.config.databaseUrl, 'keys', ...argv);
  const revoke = (client: Client) => client.send('/v1/key', { method: 'DELETE' });
  const full = async (): Promise<Client> => {
    const client = await service.client({ scopes, perMinute: 1, perDay: 9 });
    while (!(await client.get('/v1/pets')).text.includes('key_banned'));
    return client;
  };

  it('getKey returns the key as the command line shows it, without its secret', async () => {
    const client = await service.client({
      name: 'Zoo',
      plan: 'pro',
      expiresAt: clock.now() + 9_500,
    });
    const answer = await client.get('/v1/key');
    expect(answer.status).toBe(200);
    expectRateHeaders(answer);
    expect(answer.headers['x-ratelimit-remaining']).toBe('300');
    expect(answer.json()).toEqual({
      id: client.keyId,
      name: 'Zoo',
      plan: 'pro',
      scopes: ['pets:read', 'pets:write'],
      perMinute: 300,
      perDay: 10_000,
      last4: client.key!.slice(-4),
      createdAt: iso(),
      expiresAt: iso(9_500),
      revokedAt: null,
      disabledAt: null,
      lastUsedAt: iso(),
      lastUsedFrom: '127.0.0.1',
      bannedUntil: null,
      allowedFrom: [],
      clientId: client.keyId,
      replacedBy: null,
    });
    const shown = await jsonInProcess(service.config.databaseUrl, 'keys', 'show', client.keyId!);
    expect(answer.json()).toEqual(shown);
  });

  it('rotateKey issues a successor, and can be repeated until it is used', async () => {
    const client = await service.client({ scopes });
    const [lost, kept] = [await rotate(client, { graceSeconds: 60 }), await rotate(client)];
    expect([lost.status, kept.status]).toEqual([201, 201]);
    expect(kept.headers['cache-control']).toBe('no-store');
    const { id, key, ...rest } = kept.json();
    const previous = { id: client.keyId, expiresAt: iso(86_400_000) };
    expect(rest).toEqual({ expiresAt: null, previous });
    expect(lost.json().previous.expiresAt).toBe(iso(60_000));
    expectError(
      await new Client(service.origin, lost.json().key).get('/v1/key'),
      401,
      'invalid_api_key',
    );
    expect((await new Client(service.origin, key).get('/v1/key')).json()).toMatchObject({
      id,
      clientId: client.keyId,
    });
    expectError(await rotate(client), 409, 'key_already_rotated');
  });

  it('rotateKey leaves the idempotency keys of the client as they are', async () => {
    const client = await service.client({ scopes: ['pets:write', 'key:rotate'] });
    const create = (by: Client) =>
      by.post('/v1/pets', { name: 'Rex', categoryId: 1 }, { 'idempotency-key': 'order-1' });
    const first = await create(client);
    const successor = new Client(service.origin, (await rotate(client)).json().key);
    const repeat = await create(successor);
    expect([repeat.status, repeat.headers['idempotent-replayed']]).toEqual([201, 'true']);
    expect(repeat.json()).toEqual(first.json());
  });

  it.each([-1, 86_401, 1.5, '60', null])(
    'rotateKey rejects graceSeconds %p',
    async (graceSeconds) => {
      const client = await service.client({ scopes });
      const answer = await rotate(client, { graceSeconds });
      expectError(answer, 400, 'invalid_request');
      expect(answer.text).toContain('graceSeconds must be an integer between 0 and 86400');
    },
  );

  it('rotateKey names every unknown member, and rejects an Idempotency-Key', async () => {
    const client = await service.client({ scopes });
    const answer = await rotate(client, { graceSeconds: -1, force: true });
    expectError(answer, 400, 'invalid_request');
    expect(answer.text).toMatch(/graceSeconds.*force|force.*graceSeconds/);
    const once = await client.post('/v1/key/rotate', {}, { 'idempotency-key': 'a' });
    expectError(once, 400, 'invalid_request');
    expect(await petstore('show', client.keyId!)).toMatchObject({ replacedBy: null });
  });

  it('rotateKey requires its scope, which no key has by default', async () => {
    expectError(await rotate(await service.client()), 403, 'insufficient_scope');
  });

  it('revokeKey ends the key, whatever body is sent', async () => {
    const client = await service.client({ scopes: ['pets:read'] });
    const answer = await client.post('/v1/key', '{"broken', {}, 'DELETE');
    expect([answer.status, answer.text]).toEqual([204, '']);
    await eventually(async () => (await client.get('/v1/key')).status === 401);
  });

  it('are served over the limit and during a ban, and consume no quota', async () => {
    const client = await full();
    const key = await client.get('/v1/key');
    expect(Date.parse(key.json().bannedUntil)).toBeGreaterThan(clock.now());
    expect((await client.get('/v1/usage/history')).status).toBe(200);
    expect((await rotate(client)).status).toBe(201);
    expect((await revoke(client)).status).toBe(204);
  });

  it('state the same end of a ban after the clock is set back', async () => {
    const client = await full();
    clock.advance(-50_500);
    const [key, usage] = [await client.get('/v1/key'), await client.get('/v1/usage')];
    clock.advance(50_500);
    expect(key.json().bannedUntil).toBe(usage.json().bannedUntil);
    expect(Date.parse(key.json().bannedUntil)).toBeGreaterThan(clock.now());
  });

  it('share 60 requests a minute with getUsage, except for revokeKey', async () => {
    const client = await service.client({ scopes });
    const paths = ['/v1/key', '/v1/usage', '/v1/usage/history'];
    for (let request = 0; request < 60; request++) {
      expect((await client.get(paths[request % 3]!)).status).toBe(200);
    }
    for (const path of paths) expectError(await client.get(path), 429, 'rate_limit_exceeded');
    expectError(await rotate(client), 429, 'rate_limit_exceeded');
    expect((await revoke(client)).status).toBe(204);
  });

  it('are audited as changes by the key, and no record or log line has a secret', async () => {
    const client = await service.client({ scopes });
    const { key } = (await rotate(client)).json();
    await revoke(client);
    const records = await petstore('audit', client.keyId!);
    const by = { type: 'key', name: client.keyId };
    expect(records).toMatchObject([
      { action: 'key.revoke', actor: by, address: '127.0.0.1', requestId: expect.any(String) },
      { action: 'key.rotate', actor: by },
      { action: 'key.issue' },
    ]);
    const written = JSON.stringify([records, lines]);
    for (const secret of [key, client.key!]) expect(written).not.toContain(secret);
  });

  it('getUsageHistory returns the outcomes by hour and groups of rejected requests', async () => {
    clock.set('2026-06-20T10:30:00Z');
    const client = await service.client({ perMinute: 2, perDay: 9 });
    await client.get('/v1/pets');
    clock.set('2026-06-20T12:00:30Z');
    await client.get('/v1/pets?limit=0');
    await client.get('/v1/pets');
    await client.get('/v1/pets');
    clock.advance(1_000);
    await client.get('/v1/pets');
    await saveUsage(service);
    const history = (query = '') => client.get(`/v1/usage/history${query}`);
    const rejected = { operation: 'listPets', address: '127.0.0.1' };
    expect((await history()).json()).toEqual({
      hours: [
        { startsAt: '2026-06-20T10:00:00.000Z', codes: { ok: 1 } },
        {
          startsAt: '2026-06-20T12:00:00.000Z',
          codes: { ok: 1, invalid_request: 1, rate_limit_exceeded: 2 },
        },
      ],
      rejected: [
        {
          ...rejected,
          at: iso(),
          firstAt: iso(-1_000),
          count: 2,
          code: 'rate_limit_exceeded',
          window: 'minute',
        },
        {
          ...rejected,
          at: iso(-1_000),
          firstAt: iso(-1_000),
          count: 1,
          code: 'invalid_request',
          window: null,
        },
      ],
    });
    expect((await history('?hours=1')).json().hours).toHaveLength(1);
    for (const hours of ['0', '169', '1.5', '-1', 'all', '']) {
      expectError(await history(`?hours=${hours}`), 400, 'invalid_request');
    }
  });

  it('are not for callers whose key belongs to nobody', async () => {
    expectError(await service.anonymous().get('/v1/key'), 401, 'missing_api_key');
    const client = await service.client();
    await petstore('revoke', client.keyId!, '--yes');
    await eventually(async () => (await revoke(client)).status === 401);
  });
});
