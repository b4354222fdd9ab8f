import type { Config } from '../config/config.js';
import { FakeClock } from '../../../test/support/clock.js';
import { loadConfig } from '../config/config.js';
import type { ApiError } from '../errors/api-error.js';
import type { ApiReply, ApiRequest } from '../http/request.js';
import { addressRateLimitKey } from '../rate-limits/rate-limit-key.js';
import { Plans } from '../rate-limits/plan.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import { MemoryStore } from '../rate-limits/stores/memory.store.js';
import { Metrics } from '../telemetry/metrics.js';
import { digestOf, mintKey } from './api-key-format.js';
import { Authenticator } from './authenticator.js';
import type { Caller } from './caller.js';
import type { KeyCache } from './key-cache.js';
import type { Verifiers } from './verifiers.js';

const key = mintKey();
const caller: Caller = {
  clientId: 'key_zoo',
  keyId: 'key_zoo',
  plan: 'free' as const,
  scopes: new Set(),
  quota: { key: 'zoo', limits: { perMinute: 1, perDay: 1 } },
  expiresAtMs: Infinity,
};
const address = '203.0.113.7';
const verifiers = { callerOf: jest.fn(), canVerify: () => false };
const config = loadConfig({ FAILED_AUTH_PER_MINUTE: '2', FAILED_AUTH_PER_DAY: '9' });

describe(Authenticator.name, () => {
  let store: MemoryStore;
  let authenticator: Authenticator;
  const cache = { getCached: jest.fn(), load: jest.fn(), rejectedCaller: jest.fn() };
  let metrics: Metrics;
  beforeEach(() => {
    metrics = new Metrics();
    cache.rejectedCaller.mockReset().mockReturnValue(undefined);
    store = new MemoryStore(new FakeClock(), { banAfterRejections: 1, banSeconds: 60 } as Config);
    cache.getCached.mockReset().mockReturnValue(undefined);
    verifiers.callerOf.mockReset().mockReturnValue(undefined);
    cache.load
      .mockReset()
      .mockImplementation((digest) =>
        Promise.resolve(digest === digestOf(key) ? caller : undefined),
      );
    authenticator = new Authenticator(
      cache as unknown as KeyCache,
      verifiers as unknown as Verifiers,
      new RateLimiter(store, metrics, new Plans()),
      config,
      metrics,
    );
  });

  /** Authenticates a request with these `Authorization` headers. */
  async function authenticate(sent?: string | string[], remoteAddress = address) {
    // Node joins them: see `joinDuplicateHeaders` of the transport.
    const headers = { authorization: sent && [sent].flat().join(', ') };
    const request = { ip: remoteAddress, raw: { headers } };
    const asked = request as unknown as ApiRequest;
    const replied: Record<string, unknown> = {};
    const header = (name: string, value: unknown) => (replied[name] = value);
    const reply = { header, request: asked };
    let error: ApiError | undefined;
    try {
      await authenticator.authenticate(asked, reply as unknown as ApiReply);
    } catch (thrown) {
      error = thrown as ApiError;
    }
    const { caller: found, formerCaller } = asked;
    return { caller: found, formerCaller, error, headers: replied };
  }

  const failures = () => store.peek(addressRateLimitKey(address)).minuteUsed;

  it('sets the caller, and counts nothing yet', async () => {
    const { caller: found, error, headers } = await authenticate(`Bearer   ${key}`);
    expect({ found, error, headers }).toEqual({ found: caller, error: undefined, headers: {} });
    expect(store.size).toBe(0);
  });

  it('passes a token of any length to the verifiers, without the spaces before it', async () => {
    for (const length of [key.length - 1, key.length, key.length + 1]) {
      await authenticate(`Bearer  ${'t'.repeat(length)}`);
      expect(verifiers.callerOf).toHaveBeenLastCalledWith('t'.repeat(length));
    }
  });

  it('calls no verifier without a token', async () => {
    for (const sent of [undefined, 'Basic eA==', 'Bearer']) await authenticate(sent);
    expect(verifiers.callerOf).not.toHaveBeenCalled();
  });

  it('does not query the database for a cached caller', async () => {
    cache.getCached.mockReturnValue(caller);
    expect((await authenticate(`Bearer ${key}`)).caller).toBe(caller);
    expect(cache.load).not.toHaveBeenCalled();
  });

  it.each([
    'psk_1',
    'x'.repeat(8_000),
    'A'.repeat(key.length),
    `${key.slice(0, -1)}!`,
    `${key.slice(0, -6)}000000`,
  ])('does not ask the database about %s, which cannot be a key', async (sent) => {
    expect((await authenticate(`Bearer ${sent}`)).error).toMatchObject({
      code: 'invalid_api_key',
    });
    expect(cache.load).not.toHaveBeenCalled();
  });

  it('counts each failure once against the address, and sets its rate-limit headers', async () => {
    const { error, headers } = await authenticate();
    expect(error).toMatchObject({ code: 'missing_api_key' });
    expect(failures()).toBe(1);
    expect(headers).toMatchObject({
      'x-ratelimit-limit': 2,
      'x-ratelimit-remaining': 1,
      'ratelimit-policy': '"minute";q=2;w=60,"day";q=9;w=86400',
    });
  });

  it('responds 429 in place of 401 to an address that failed too often, without a ban', async () => {
    await authenticate();
    await authenticate(`Bearer ${mintKey()}`);
    for (let time = 0; time < 5; time++) {
      const { error, headers } = await authenticate(`Bearer ${mintKey()}`);
      expect(error).toMatchObject({
        code: 'rate_limit_exceeded',
        headers: { 'Retry-After': '30' },
      });
      expect(headers).toMatchObject({ 'x-ratelimit-remaining': 0 });
    }
    expect((await authenticate(undefined, '203.0.113.8')).error).toMatchObject({ status: 401 });
    expect(await authenticate(`Bearer ${key}`)).toMatchObject({ caller, error: undefined });
  });

  it('names the caller of an expired key, but not for a rejection of its address', async () => {
    const expired = `Bearer ${mintKey()}`;
    cache.rejectedCaller.mockReturnValue({ caller, reason: 'expired' });
    for (let time = 0; time < 2; time++) {
      expect((await authenticate(expired)).formerCaller).toBe(caller);
    }
    const { error, formerCaller } = await authenticate(expired);
    expect(error).toMatchObject({ code: 'rate_limit_exceeded' });
    expect(formerCaller).toBeUndefined();
  });

  it('rejects a valid key from another address with 403, counted like a failure', async () => {
    cache.load.mockResolvedValue(undefined);
    cache.rejectedCaller.mockReturnValue({ caller, reason: 'address_not_allowed' });
    for (let time = 1; time <= 2; time++) {
      const { error, formerCaller, caller: found, headers } = await authenticate(`Bearer ${key}`);
      expect(error).toMatchObject({ status: 403, code: 'address_not_allowed' });
      expect(error!.message).toContain(address);
      expect([formerCaller, found]).toEqual([caller, undefined]);
      expect(headers).toMatchObject({ 'x-ratelimit-limit': 2 });
      expect(failures()).toBe(time);
    }
    const { error, formerCaller } = await authenticate(`Bearer ${key}`);
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(formerCaller).toBeUndefined();
  });

  it('describes the quota of the address, uncounted, while the database is down', async () => {
    const outage = new Error('the database is down');
    cache.load.mockRejectedValue(outage);
    const { error, headers, caller: found } = await authenticate(`Bearer ${key}`);
    expect(error).toBe(outage);
    expect(found).toBeUndefined();
    expect(headers).toMatchObject({ 'x-ratelimit-limit': 2, 'x-ratelimit-remaining': 2 });
    expect(failures()).toBe(0);
  });
});
