import { FakeClock } from '../../test/support/clock.js';
import { loadConfig } from '../config/config.js';
import type { ApiError } from '../errors/api-error.js';
import { ClientAddress } from '../http/client-address.js';
import type { ApiReply, ApiRequest } from '../http/request-context.js';
import { Limits } from '../rate-limits/limits.js';
import { addressSubject } from '../rate-limits/subject.js';
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
  quota: { subject: 'zoo', limits: new Limits(1, 1) },
  expiresAtMs: Infinity,
};
const address = '203.0.113.7';
const verifiers = { callerOf: jest.fn(), canVerify: () => false };
const config = loadConfig({ FAILED_AUTH_PER_MINUTE: '2', FAILED_AUTH_PER_DAY: '9' });

describe(Authenticator.name, () => {
  let store: MemoryStore;
  let authenticator: Authenticator;
  const cache = { getCached: jest.fn(), load: jest.fn(), expiredCaller: jest.fn() };
  let metrics: Metrics;
  beforeEach(() => {
    metrics = new Metrics();
    cache.expiredCaller.mockReset().mockReturnValue(undefined);
    store = new MemoryStore(new FakeClock(), { afterRejections: 1, firstBanMs: 60_000 });
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
      new RateLimiter(store, metrics),
      new ClientAddress(config),
      config,
      metrics,
    );
  });

  /** What becomes of a request with these `Authorization` fields; an array stands for several. */
  async function identify(sent?: string | string[], remoteAddress = address) {
    const fields = [sent ?? []].flat();
    const rawHeaders = ['Host', 'x', ...fields.flatMap((field) => ['AUTHORIZATION', field])];
    const headers = { authorization: fields[0] };
    const request = { raw: { headers, rawHeaders, socket: { remoteAddress } } };
    const told: Record<string, unknown> = {};
    const reply = { header: (name: string, value: unknown) => (told[name] = value) };
    const { caller: found, quota, error } = await attempt(request, reply);
    return { caller: found, quota, error, told };
  }

  /** Whose a request with a key that has ended is taken to be. */
  async function formerCallerOf(ended: string) {
    const headers = { authorization: `Bearer ${ended}` };
    const rawHeaders = ['Authorization', headers.authorization];
    const request = { raw: { headers, rawHeaders, socket: { remoteAddress: address } } };
    const { error } = await attempt(request, { header: () => undefined });
    const { formerCaller } = request as unknown as ApiRequest;
    return { code: error?.code, formerCaller };
  }

  async function attempt(request: object, reply: object) {
    const asked = request as unknown as ApiRequest;
    let error: unknown;
    try {
      await authenticator.authenticate(asked, reply as unknown as ApiReply);
    } catch (thrown) {
      error = thrown;
    }
    return { caller: asked.caller, quota: asked.quota, error: error as ApiError | undefined };
  }

  const failures = () => store.peek(addressSubject(address)).minuteUsed;
  const challenge = 'Bearer realm="pet-store"';

  it.each([`Bearer ${key}`, `bearer ${key}`, `BEARER ${key}`, `Bearer   ${key}`])(
    'knows the caller by %s, and counts nothing yet',
    async (sent) => {
      expect(await identify(sent)).toEqual({
        caller,
        quota: caller.quota,
        error: undefined,
        told: {},
      });
      expect(failures()).toBe(0);
      expect(store.size).toBe(0);
    },
  );

  it('asks verifiers for a token without the spaces before it, however long it is', async () => {
    for (const length of [key.length - 1, key.length, key.length + 1]) {
      await identify(`Bearer  ${'t'.repeat(length)}`);
      expect(verifiers.callerOf).toHaveBeenLastCalledWith('t'.repeat(length));
    }
  });

  it('does not ask the database for a caller that it remembers', async () => {
    cache.getCached.mockReturnValue(caller);
    expect((await identify(`Bearer ${key}`)).caller).toBe(caller);
    expect(cache.load).not.toHaveBeenCalled();
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', `Basic ${key}`, key, `Bearer${key}`])(
    'asks for a key where %p was sent',
    async (sent) => {
      const { error, caller: found } = await identify(sent);
      expect(error).toMatchObject({
        code: 'missing_api_key',
        headers: { 'WWW-Authenticate': challenge },
      });
      expect(found).toBeUndefined();
      expect(failures()).toBe(1);
    },
  );

  it.each<[string, string | string[]]>([
    ['an unknown key', `Bearer ${mintKey()}`],
    ['one of a wrong checksum', `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
    ['one with something behind it', `Bearer ${key},`],
    ['one behind a tab', `Bearer \t${key}`],
    ['one before a tab', `Bearer ${key}\t`],
    ['one before a space that does not break', `Bearer ${key}\u00a0`],
    ['two keys in one', `Bearer ${key} ${key}`],
    ['two fields, the first of them right', [`Bearer ${key}`, 'Basic eDp5']],
    ['two fields, the second of them right', ['Basic eDp5', `Bearer ${key}`]],
    ['two fields that agree', [`Bearer ${key}`, `Bearer ${key}`]],
  ])('refuses %s as a key that is not valid', async (_what, sent) => {
    const { error, caller: found } = await identify(sent);
    expect(error).toMatchObject({
      code: 'invalid_api_key',
      headers: { 'WWW-Authenticate': `${challenge}, error="invalid_token"` },
    });
    expect(found).toBeUndefined();
    expect(failures()).toBe(1);
  });

  it.each(['psk_1', 'x'.repeat(8_000), 'A'.repeat(key.length), `${key.slice(0, -1)}!`])(
    'does not ask the database for what cannot be a key: %s',
    async (sent) => {
      expect((await identify(`Bearer ${sent}`)).error).toMatchObject({ code: 'invalid_api_key' });
      expect(cache.load).not.toHaveBeenCalled();
    },
  );

  it('tells a caller without a key what is left of its address', async () => {
    expect((await identify()).told).toMatchObject({
      'x-ratelimit-limit': 2,
      'x-ratelimit-remaining': 1,
      'ratelimit-policy': '"minute";q=2;w=60,"day";q=9;w=86400',
    });
  });

  it('answers 429 in the place of 401 once an address has failed too often, and bans it never', async () => {
    await identify();
    await identify(`Bearer ${mintKey()}`);
    for (let time = 0; time < 5; time++) {
      const { error, told } = await identify(`Bearer ${mintKey()}`);
      expect(error).toMatchObject({
        code: 'rate_limit_exceeded',
        headers: { 'Retry-After': '30' },
      });
      expect(told).toMatchObject({ 'x-ratelimit-remaining': 0 });
    }
    expect((await identify(undefined, '203.0.113.8')).error).toMatchObject({ status: 401 });
  });

  it('tells whose key has ended, and of no client what the limit of its address refuses', async () => {
    const ended = mintKey();
    cache.expiredCaller.mockReturnValue({ caller, reason: 'expired' });
    const refused = { code: 'invalid_api_key', formerCaller: caller };
    expect(await formerCallerOf(ended)).toEqual(refused);
    expect(await formerCallerOf(ended)).toEqual(refused);
    const limited = { code: 'rate_limit_exceeded', formerCaller: undefined };
    expect(await formerCallerOf(ended)).toEqual(limited);
  });

  it('never lets the failures of an address stand in the way of a valid key', async () => {
    for (let time = 0; time < 5; time++) await identify();
    expect(await identify(`Bearer ${key}`)).toMatchObject({ caller, error: undefined });
    cache.getCached.mockReturnValue(caller);
    expect(await identify(`Bearer ${key}`)).toMatchObject({ caller, error: undefined });
  });

  it('charges nobody while nobody can be known, and says what is left all the same', async () => {
    const outage = new Error('the database is away');
    cache.load.mockRejectedValue(outage);
    const { error, told, caller: found } = await identify(`Bearer ${key}`);
    expect(error).toBe(outage);
    expect(found).toBeUndefined();
    expect(told).toMatchObject({ 'x-ratelimit-limit': 2, 'x-ratelimit-remaining': 2 });
    expect(failures()).toBe(0);
  });
});
