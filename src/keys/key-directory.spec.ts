import { FakeClock } from '../../test/support/clock.js';
import type { Engine } from '../database/engine.js';
import type { Look, Poller } from '../database/poller.js';
import { NoMetrics } from '../telemetry/metrics.js';
import { KeyDirectory } from './key-directory.js';
import type { LastUses } from './last-uses.js';

const zoo = {
  id: 'key_zoo',
  clientId: 'key_client',
  digest: 'zoo',
  plan: 'pro',
  scopes: 'pets:read pets:write',
  perMinute: null as number | string | null,
  perDay: null as number | string | null,
  expiresAt: null as number | string | null,
  revokedAt: null as number | string | null,
  changedAt: 1_000,
};

const outage = Object.assign(new Error('away'), { code: 'ECONNREFUSED' });

describe(KeyDirectory.name, () => {
  let clock: FakeClock;
  let metrics: NoMetrics;
  let directory: KeyDirectory;
  let rows: (typeof zoo)[];
  let changes: ({ digest: string; changedAt: number } & Partial<typeof zoo>)[];
  let lookUps: number;
  let uses: [keyId: string, atMs: number][];
  let look: Look;
  let watch: { isCurrent: boolean; unseenForMs: number };
  let answer: () => unknown;

  beforeEach(() => {
    clock = new FakeClock();
    [rows, changes, uses, lookUps] = [[{ ...zoo }], [], [], 0];
    watch = { isCurrent: true, unseenForMs: 0 };
    answer = () => undefined;
    const observe = () => Promise.resolve(changes);
    const first = (_find: unknown, digest: string): unknown => {
      lookUps++;
      return answer() ?? rows.find((row) => row.digest === digest);
    };
    const lastUses: Partial<LastUses> = {
      record: ({ keyId }, atMs) => void uses.push([keyId, atMs]),
    };
    metrics = new NoMetrics();
    directory = new KeyDirectory(
      { observe, first } as unknown as Engine,
      { watch: (watched: Look) => ((look = watched), watch) } as unknown as Poller,
      clock,
      lastUses as LastUses,
      metrics,
    );
  });

  it('finds the caller of a key, with the quota of its client, and remembers it', async () => {
    expect(directory.remembered('zoo')).toBeUndefined();
    expect(await directory.load('zoo')).toMatchObject({
      keyId: 'key_zoo',
      scopes: new Set(['pets:read', 'pets:write']),
      quota: { subject: 'key_client', limits: { perMinute: 300, perDay: 10_000 } },
    });
    expect(directory.remembered('zoo')).toMatchObject({ keyId: 'key_zoo' });
    expect(lookUps).toBe(1);
  });

  it('takes the limits of its own from a key that has them, as either engine tells them', async () => {
    rows = [{ ...zoo, plan: 'enterprise', perMinute: '7', perDay: 9 }];
    expect(await directory.load('zoo')).toMatchObject({
      quota: { limits: { perMinute: 7, perDay: 9 } },
    });
  });

  it('finds nobody for an unknown key, and does not remember that', async () => {
    expect(await directory.load('nobody')).toBeUndefined();
    rows = [{ ...zoo, digest: 'nobody' }];
    expect(await directory.load('nobody')).toBeDefined();
  });

  it('ends a key at the moment it expires, remembered or not', async () => {
    rows = [{ ...zoo, expiresAt: String(clock.now() + 1_000) }];
    expect(await directory.load('zoo')).toBeDefined();
    clock.advance(999);
    expect(directory.remembered('zoo')).toBeDefined();
    clock.advance(1);
    expect(directory.remembered('zoo')).toBeUndefined();
    expect(await directory.load('zoo')).toBeUndefined();
  });

  it.each([
    ['as fast', 0],
    ['behind', 60_000],
    ['ahead', -60_000],
  ])('refuses a revoked key with a clock that is %s as that of who revoked it', async (_, skew) => {
    rows = [{ ...zoo, revokedAt: clock.now() + skew, expiresAt: clock.now() + 3_600_000 }];
    expect(await directory.load('zoo')).toBeUndefined();
    expect(directory.remembered('zoo')).toBeUndefined();
  });

  it('takes over what has changed of a key, of that one only, without asking again', async () => {
    rows.push({ ...zoo, id: 'key_ark', digest: 'ark' });
    await directory.load('zoo');
    await directory.load('ark');
    changes = [{ ...zoo, changedAt: 2_000, revokedAt: 2_000 }];
    await look(0);
    rows.length = 0;
    expect(directory.remembered('zoo')).toBeUndefined();
    expect(await directory.load('zoo')).toBeUndefined();
    expect(directory.formerly('zoo')).toMatchObject({
      why: 'revoked',
      caller: { keyId: 'key_zoo' },
    });
    expect(directory.formerly('nobody')).toBeUndefined();
    expect(directory.remembered('ark')).toBeDefined();
  });

  it('keeps a caller that it knows as changed', async () => {
    await directory.load('zoo');
    changes = [{ ...zoo, changedAt: 1_000 }];
    await look(0);
    expect(directory.remembered('zoo')).toBeDefined();
  });

  it.each([
    ['may have changed', undefined, 0],
    ['so many have changed that there may be more', 0, 10_000],
  ])('forgets everyone where anyone %s', async (_what, sinceMs, count) => {
    await directory.load('zoo');
    changes = Array.from({ length: count }, (_, n) => ({ digest: `d${n}`, changedAt: 1 }));
    await look(sinceMs);
    expect(directory.remembered('zoo')).toBeUndefined();
  });

  it('asks for each caller anew while it is not sure of what it remembers', async () => {
    await directory.load('zoo');
    watch.isCurrent = false;
    expect(directory.remembered('zoo')).toBeUndefined();
    rows = [{ ...zoo, revokedAt: clock.now() }];
    expect(await directory.load('zoo')).toBeUndefined();
  });

  it('believes what it was told of a key since it asked for it', async () => {
    await directory.load('zoo');
    watch.isCurrent = false;
    changes = [{ ...zoo, changedAt: 2_000, revokedAt: 2_000 }];
    answer = () => look(0).then(() => zoo);
    expect(await directory.load('zoo')).toBeUndefined();
    watch.isCurrent = true;
    expect(directory.remembered('zoo')).toBeUndefined();
  });

  it('does not remember what was too long on its way to be of now', async () => {
    answer = () => (clock.advance(6_000), undefined);
    expect(await directory.load('zoo')).toBeDefined();
    expect(directory.remembered('zoo')).toBeUndefined();
  });

  it.each([
    ['says so', () => Promise.reject(outage)],
    ['is silent', () => new Promise(() => undefined)],
  ])(
    'knows whom it knew for five minutes while the database %s, and nobody else',
    async (_, away) => {
      await directory.load('zoo');
      watch.isCurrent = false;
      answer = away;
      watch.unseenForMs = 300_000;
      expect(await directory.load('zoo')).toMatchObject({ keyId: 'key_zoo' });
      watch.unseenForMs = 300_001;
      await expect(directory.load('zoo')).rejects.toMatchObject({
        code: expect.stringMatching(/^E/),
      });
    },
  );

  it('knows nobody by heart for a fault that is not of the database', async () => {
    await directory.load('zoo');
    watch.isCurrent = false;
    answer = () => Promise.reject(new Error('a bug'));
    await expect(directory.load('zoo')).rejects.toThrow('a bug');
  });

  it('remembers a bounded number of callers, and forgets the oldest for those that come again', async () => {
    const come = async (digest: string) => {
      rows = [{ ...zoo, digest }];
      await directory.load(digest);
      return directory.remembered(digest) !== undefined;
    };
    for (let count = 0; count < 93_750; count++) await come(`digest-${count}`);
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
    expect(await come('zoo')).toBe(false);
    random.mockRestore();
    // A crowd, of which each comes once.
    let letIn = 0;
    for (let count = 0; count < 40_000; count++) if (await come(`crowd-${count}`)) letIn++;
    expect(letIn).toBeGreaterThan(4_000);
    expect(letIn).toBeLessThan(6_000);
    expect(directory.remembered('digest-0')).toBeDefined();
    for (let time = 0; time < 500; time++) await come('zoo');
    expect(directory.remembered('zoo')).toBeDefined();
    for (let count = 0; directory.remembered('digest-0') !== undefined; count++) {
      expect(count).toBeLessThan(40_000);
      await come(`others-${count}`);
    }
    // There is room for those who are still here.
    expect(await come('digest-0')).toBe(true);
    expect(directory.remembered('digest-93749')).toBeDefined();
    expect(directory.remembered('zoo')).toBeDefined();
  });

  it('knows whose key has ended, however many it remembers', async () => {
    let known = 0;
    for (let count = 0; count < 110_000; count++) {
      rows = [{ ...zoo, digest: `ended-${count}`, revokedAt: 1 }];
      const caller = await directory.load(`ended-${count}`);
      if (caller === undefined && directory.formerly(`ended-${count}`)?.why === 'revoked') known++;
    }
    expect(known).toBe(110_000);
    expect(directory.formerly('ended-0')).toBeUndefined();
  });

  it('tells of each use of a key in force, and of no other', async () => {
    rows.push({ ...zoo, id: 'key_ended', digest: 'ended', revokedAt: 1 });
    await directory.load('zoo');
    await directory.load('ended');
    clock.advance(1_000);
    directory.remembered('zoo');
    directory.remembered('ended');
    expect(uses).toEqual([
      ['key_zoo', clock.now() - 1_000],
      ['key_zoo', clock.now()],
    ]);
  });
});
