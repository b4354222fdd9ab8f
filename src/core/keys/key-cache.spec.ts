import { QueryFailedError } from 'typeorm';
import { FakeClock } from '../../../test/support/clock.js';
import type { ChangePoller, PollCallback } from '../database/change-poller.js';
import type { Database } from '../database/database.js';
import { isOutage } from '../database/database-error.js';
import type { ApiRequest } from '../http/request.js';
import { Plans } from '../rate-limits/plan.js';
import { Metrics } from '../telemetry/metrics.js';
import { KeyCache } from './key-cache.js';
import type { LastUses, Use } from './last-uses.js';

const sender = { ip: '192.0.2.1' } as ApiRequest;

type Row = typeof zoo;
const zoo = {
  id: 'key_zoo',
  clientId: 'key_client',
  digest: 'zoo',
  plan: 'pro',
  scopes: 'pets:read pets:write',
  allowedFrom: '',
  perMinute: null as number | null,
  perDay: null as number | null,
  expiresAt: null as number | null,
  endedAt: null as number | null,
  changedAt: 1_000,
  isUnused: 0,
};
const outage = new QueryFailedError(
  '',
  [],
  Object.assign(new Error('away'), { code: 'ECONNREFUSED' }),
);

describe(KeyCache.name, () => {
  let clock: FakeClock;
  let cache: KeyCache;
  let rows: Row[];
  let changes: Row[];
  let lookups: number;
  let uses: string[];
  let look: PollCallback;
  let poller: {
    isCurrent: boolean;
    staleForMs: number;
    subscribe: (callback: PollCallback) => void;
  };
  let answer: () => unknown;
  let storeFirst: (keyId: string, use: Use) => Promise<void>;

  beforeEach(() => {
    clock = new FakeClock();
    [rows, changes, uses, lookups] = [[{ ...zoo }], [], [], 0];
    poller = { isCurrent: true, staleForMs: 0, subscribe: (callback) => (look = callback) };
    answer = () => undefined;
    const database = {
      poll: () => Promise.resolve(changes),
      query: async (_find: unknown, digest: string) => {
        lookups++;
        const row = (await answer()) ?? rows.find((each) => each.digest === digest);
        return row === undefined ? [] : [row];
      },
    };
    cache = new KeyCache(
      database as unknown as Database,
      poller as unknown as ChangePoller,
      clock,
      {
        record: (keyId: string) => void uses.push(keyId),
        recordFirst: (keyId: string, use: Use) => storeFirst(keyId, use),
      } as Partial<LastUses> as LastUses,
      new Plans(),
      new Metrics(),
    );
  });

  it('finds the caller of a key with the quota of its client, with one query', async () => {
    expect(cache.getCached('zoo', sender)).toBeUndefined();
    const caller = {
      keyId: 'key_zoo',
      scopes: new Set(['pets:read', 'pets:write']),
      quota: { key: 'key_client', limits: { perMinute: 300, perDay: 10_000 } },
    };
    expect(await cache.load('zoo', sender)).toMatchObject(caller);
    expect(cache.getCached('zoo', sender)).toMatchObject(caller);
    expect(lookups).toBe(1);
  });

  it('uses the limits of the key itself', async () => {
    rows = [{ ...zoo, plan: 'enterprise', perMinute: 7, perDay: 9 }];
    expect(await cache.load('zoo', sender)).toMatchObject({
      quota: { limits: { perMinute: 7, perDay: 9 } },
    });
  });

  it('knows a key without scopes', async () => {
    rows = [{ ...zoo, scopes: '' }];
    expect(await cache.load('zoo', sender)).toMatchObject({ scopes: new Set() });
  });

  it('does not cache that a key is unknown', async () => {
    expect(await cache.load('ark', sender)).toBeUndefined();
    rows = [{ ...zoo, digest: 'ark' }];
    expect(await cache.load('ark', sender)).toBeDefined();
  });

  it('accepts an unused key once its first use is stored, and then asks no more', async () => {
    rows = [{ ...zoo, isUnused: 1 }];
    const stored: unknown[] = [];
    storeFirst = (...first) => {
      stored.push(first);
      rows = [zoo];
      return Promise.resolve();
    };
    expect(await cache.load('zoo', sender)).toBeDefined();
    expect(cache.getCached('zoo', sender)).toBeDefined();
    expect(await cache.load('zoo', sender)).toBeDefined();
    expect(stored).toEqual([['key_zoo', { atMs: clock.now(), address: '192.0.2.1' }]]);
  });

  it('forgets an unused key that was replaced, so that it is unknown from any address', async () => {
    rows = [{ ...zoo, isUnused: 1, allowedFrom: '203.0.113.0/24' }];
    expect(await cache.load('zoo', sender)).toBeUndefined();
    expect(cache.rejectedCaller('zoo', sender)).toMatchObject({ reason: 'address_not_allowed' });
    rows = [];
    expect(await cache.load('zoo', sender)).toBeUndefined();
    expect(cache.rejectedCaller('zoo', sender)).toBeUndefined();
  });

  it('rejects an unused key that is revoked while its first use is stored', async () => {
    rows = [{ ...zoo, isUnused: 1 }];
    storeFirst = () => {
      rows = [{ ...zoo, isUnused: 1, endedAt: 1, changedAt: 1_001 }];
      return Promise.resolve();
    };
    expect(await cache.load('zoo', sender)).toBeUndefined();
    expect(cache.rejectedCaller('zoo', sender)).toMatchObject({ reason: 'revoked' });
  });

  it('stores no first use of a key that has expired', async () => {
    rows = [{ ...zoo, isUnused: 1, expiresAt: clock.now() }];
    storeFirst = jest.fn();
    expect(await cache.load('zoo', sender)).toBeUndefined();
    expect(storeFirst).not.toHaveBeenCalled();
  });

  it('records no use from an address that the list lacks, not even the first', async () => {
    rows = [{ ...zoo, isUnused: 1, allowedFrom: '198.51.100.0/24' }];
    storeFirst = jest.fn();
    expect(await cache.load('zoo', sender)).toBeUndefined();
    expect(cache.getCached('zoo', sender)).toBeUndefined();
    expect(cache.rejectedCaller('zoo', sender)).toMatchObject({ reason: 'address_not_allowed' });
    expect(storeFirst).not.toHaveBeenCalled();
    rows = [{ ...zoo, allowedFrom: '198.51.100.0/24' }];
    expect(await cache.load('zoo', sender)).toBeUndefined();
    expect(uses).toEqual([]);
    const allowed = { ip: '198.51.100.9' } as ApiRequest;
    expect(await cache.load('zoo', allowed)).toBeDefined();
    expect(cache.getCached('zoo', allowed)).toBeDefined();
    expect(uses).toEqual(['key_zoo']);
  });

  it('reports that a key is revoked or expired, rather than the address', async () => {
    const list = { allowedFrom: '198.51.100.9' };
    for (const [end, reason] of [
      [{ endedAt: 1 }, 'revoked'],
      [{ expiresAt: clock.now() }, 'expired'],
    ] as const) {
      rows = [{ ...zoo, ...list, ...end }];
      expect(await cache.load('zoo', sender)).toBeUndefined();
      expect(cache.rejectedCaller('zoo', sender)).toMatchObject({ reason });
    }
  });

  it('rejects no unused key of an outage, but asks the caller to come back', async () => {
    rows = [{ ...zoo, isUnused: 1, endedAt: 1 }];
    await cache.load('zoo', sender);
    changes = [{ ...zoo, isUnused: 1, changedAt: 1_001 }];
    await look(1);
    expect(cache.getCached('zoo', sender)).toBeUndefined();
    answer = () => Promise.reject(outage);
    await expect(cache.load('zoo', sender)).rejects.toBe(outage);
  });

  it('expires a key on time, and records a use of a valid key once a second', async () => {
    rows = [{ ...zoo, expiresAt: clock.now() + 2_000 }];
    expect(await cache.load('zoo', sender)).toBeDefined();
    clock.advance(999);
    expect(cache.getCached('zoo', sender)).toBeDefined();
    expect(uses).toEqual(['key_zoo']);
    clock.advance(1_000);
    expect(cache.getCached('zoo', sender)).toBeDefined();
    clock.advance(1);
    expect(cache.getCached('zoo', sender)).toBeUndefined();
    expect(await cache.load('zoo', sender)).toBeUndefined();
    expect(cache.rejectedCaller('zoo', sender)).toMatchObject({ reason: 'expired' });
    expect(uses).toEqual(['key_zoo', 'key_zoo']);
  });

  it.each([0, 60_000, -60_000])(
    'rejects a revoked key if the clock of the revoking node differs by %s ms',
    async (skewMs) => {
      rows = [{ ...zoo, endedAt: clock.now() + skewMs, expiresAt: clock.now() + 3_600_000 }];
      expect(await cache.load('zoo', sender)).toBeUndefined();
      expect(cache.getCached('zoo', sender)).toBeUndefined();
    },
  );

  it('applies a change that the poller reports, to the changed key only', async () => {
    rows.push({ ...zoo, id: 'key_ark', digest: 'ark' });
    await cache.load('zoo', sender);
    await cache.load('ark', sender);
    changes = [
      { ...zoo, changedAt: 2_000, endedAt: 2_000 },
      { ...zoo, digest: 'other' },
    ];
    await look(0);
    rows = changes.slice(0, 1);
    expect(cache.getCached('zoo', sender)).toBeUndefined();
    expect(await cache.load('zoo', sender)).toBeUndefined();
    expect(cache.rejectedCaller('zoo', sender)).toMatchObject({ reason: 'revoked' });
    expect(cache.rejectedCaller('other', sender)).toBeUndefined();
    expect(cache.getCached('ark', sender)).toBeDefined();
  });

  it.each([
    ['any key may have changed', undefined, 0],
    ['more keys changed than one look returns', 0, 10_000],
  ])('forgets every caller if %s', async (_what, sinceMs, count) => {
    await cache.load('zoo', sender);
    changes = Array.from({ length: count }, (_, n) => ({ ...zoo, digest: `d${n}` }));
    await look(sinceMs);
    expect(cache.getCached('zoo', sender)).toBeUndefined();
  });

  it('queries the database for a cached key while the last poll is too old', async () => {
    await cache.load('zoo', sender);
    poller.isCurrent = false;
    expect(cache.getCached('zoo', sender)).toBeUndefined();
    rows = [{ ...zoo, endedAt: clock.now() }];
    expect(await cache.load('zoo', sender)).toBeUndefined();
  });

  it('prefers a later state that the poller reported during a lookup', async () => {
    await cache.load('zoo', sender);
    poller.isCurrent = false;
    changes = [{ ...zoo, changedAt: 2_000, endedAt: 2_000 }];
    answer = () => look(0).then(() => zoo);
    expect(await cache.load('zoo', sender)).toBeUndefined();
    poller.isCurrent = true;
    expect(cache.getCached('zoo', sender)).toBeUndefined();
  });

  it.each([
    ['refuses connections', () => Promise.reject(outage)],
    ['does not answer', () => new Promise(() => undefined)],
  ])('trusts cached callers for five minutes while the database %s', async (_, down) => {
    await cache.load('zoo', sender);
    poller.isCurrent = false;
    answer = down;
    poller.staleForMs = 300_000;
    expect(await cache.load('zoo', sender)).toMatchObject({ keyId: 'key_zoo' });
    poller.staleForMs = 300_001;
    const failure = await cache.load('zoo', sender).catch((error: unknown) => error);
    expect(isOutage(failure)).toBe(true);
  });

  it('trusts no caller that it had to forget during an outage', async () => {
    await cache.load('zoo', sender);
    poller.isCurrent = false;
    answer = () => look(undefined).then(() => Promise.reject(outage));
    await expect(cache.load('zoo', sender)).rejects.toBe(outage);
  });

  it('waits for the database, however slow, where it has no cached caller to trust', async () => {
    jest.useFakeTimers();
    answer = () => new Promise((resolve) => setTimeout(() => resolve(zoo), 2_000));
    const loaded = cache.load('zoo', sender);
    await jest.advanceTimersByTimeAsync(2_000);
    jest.useRealTimers();
    expect(await loaded).toMatchObject({ keyId: 'key_zoo' });
  });

  it('trusts no cached caller because of another fault', async () => {
    await cache.load('zoo', sender);
    poller.isCurrent = false;
    answer = () => Promise.reject(new Error('a bug'));
    await expect(cache.load('zoo', sender)).rejects.toThrow('a bug');
  });

  it('holds 100,000 callers, of which it evicts the oldest for one more', async () => {
    const digests = Array.from({ length: 100_000 }, (_, n) => `digest-${n}`);
    for (const digest of digests) {
      rows = [{ ...zoo, digest }];
      await cache.load(digest, sender);
    }
    expect(digests.every((digest) => cache.getCached(digest, sender) !== undefined)).toBe(true);
    rows = [{ ...zoo, digest: 'one more' }];
    await cache.load('one more', sender);
    expect(cache.getCached('one more', sender)).toBeDefined();
    expect(cache.getCached(digests[0]!, sender)).toBeUndefined();
    expect(cache.getCached(digests[1]!, sender)).toBeDefined();
  });
});
