import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { startService, type TestService } from '../support/start-service.js';

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
      const response = await client.get('/v1/usage');
      expect(response.status).toBe(200);
      expectRateHeaders(response);
      expect(response.headers['x-ratelimit-remaining']).toBe('59');
      expect(response.json()).toEqual({
        plan: 'free',
        scopes: ['pets:write'],
        limits: {
          minute: { limit: 60, remaining: 59, resetAt: '2026-06-15T12:01:00.000Z' },
          day: { limit: 1_000, remaining: 999, resetAt: '2026-06-16T00:00:00.000Z' },
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
      expiresAt: new Date(expiresAt).toISOString(),
    });
  });

  it('accepts a key that is over its limit or banned', async () => {
    const client = await service.client({ plan: 'enterprise', perMinute: 1, perDay: 9 });
    await client.get('/v1/pets');
    await client.get('/v1/pets');
    const over = (await client.get('/v1/usage')).json();
    expect(over.limits.minute.remaining).toBe(0);
    expect(over.bannedUntil).toBeNull();
    for (let rejected = 0; rejected < 100; rejected++) await client.get('/v1/pets');
    expectError(await client.get('/v1/pets'), 429, 'key_banned');
    const banned = await client.get('/v1/usage');
    expect(banned.status).toBe(200);
    expect(banned.headers['x-ratelimit-remaining']).toBe('0');
    expect(banned.json().bannedUntil).toBe(new Date(clock.now() + 300_000).toISOString());
  });

  it('accepts 60 requests a minute, then responds with 429, without a ban and without consuming quota', async () => {
    const [client, other] = await Promise.all([service.client(), service.client()]);
    for (let asked = 0; asked < 60; asked++) {
      // An invalid request counts as well.
      const query = asked % 2 === 0 ? '' : '?of=me';
      expect((await client.get(`/v1/usage${query}`)).status).toBe(query === '' ? 200 : 400);
    }
    expectError(await client.get('/v1/usage?of=me'), 429, 'rate_limit_exceeded');
    for (let rejected = 0; rejected < 150; rejected++) {
      const response = await client.get('/v1/usage');
      expectError(response, 429, 'rate_limit_exceeded');
      expect(response.headers['retry-after']).toBe('30');
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
