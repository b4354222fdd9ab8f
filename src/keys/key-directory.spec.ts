import { FakeClock } from '../../test/support/clock.js';
import { passBy } from '../../test/support/pass-by.js';
import type { Engine } from '../database/engine.js';
import type { Look, Poller } from '../database/poller.js';
import type { Step, Work } from '../database/statement.js';
import { SharedNames } from '../rate-limits/names.js';
import type { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { CallerTable } from './caller-table.js';
import { KeyDirectory, LastUses } from './key-directory.js';

describe(LastUses.name, () => {
  let lastUses: LastUses;
  let names: SharedNames;
  let written: Step[];
  const logger = { debug: jest.fn() };
  const write = jest.fn();

  beforeEach(() => {
    written = [];
    logger.debug.mockReset();
    write.mockReset().mockImplementation((work: () => Work<void>) => {
      const unit = work();
      for (let step = unit.next(); !step.done; step = unit.next([])) written.push(step.value);
      return Promise.resolve();
    });
    names = new SharedNames();
    lastUses = new LastUses({ write } as unknown as Engine, logger as unknown as Logger, names);
  });
  afterEach(() => lastUses.beforeApplicationShutdown());

  const saved = () =>
    written
      .filter(({ statement }) => statement.name === 'keys.used')
      .map(({ parameters }) => JSON.parse(String(parameters[0])) as Record<string, number>);

  it('writes the last use of each key down once, many together', async () => {
    lastUses.record('key_zoo', 1_000);
    lastUses.record('key_ark', 1_000);
    lastUses.record('key_zoo', 2_000);
    await lastUses.beforeApplicationShutdown();
    expect(saved()).toEqual([{ key_ark: 1_000, key_zoo: 2_000 }]);
    await lastUses.beforeApplicationShutdown();
    expect(saved()).toHaveLength(1);
  });

  it('writes down a bounded number at once, in the order of their rows', async () => {
    const ids = Array.from({ length: 5_000 }, (_none, count) => `key_${count}`);
    for (const id of ids) lastUses.record(id, 1_000);
    await lastUses.beforeApplicationShutdown();
    const batches = saved().map((uses) => Object.keys(uses));
    expect(Math.max(...batches.map(({ length }) => length))).toBeLessThan(2_000);
    expect(batches.flat()).toEqual(ids.sort());
  });

  it('keeps the names of those that wait, whoever passes by before or meanwhile', async () => {
    const ids = Array.from({ length: 3_000 }, (_none, count) => `key_${count}`);
    for (const id of ids) lastUses.record(id, 1_000);
    await passBy(names);
    write.mockImplementationOnce(async () => {
      await passBy(names);
      throw new Error('disk full');
    });
    await lastUses.beforeApplicationShutdown();
    await passBy(names);
    lastUses.record('key_7', 2_000);
    await lastUses.beforeApplicationShutdown();
    const told = Object.assign({}, ...saved()) as Record<string, number>;
    expect(told['key_7']).toBe(2_000);
    expect(Object.keys(told).every((id) => ids.includes(id))).toBe(true);
    // The part that was being written is lost.
    expect(Object.keys(told).length).toBeGreaterThan(1_500);
  });

  it('writes them down every few seconds: they may lag 10', async () => {
    jest.useFakeTimers();
    try {
      lastUses.onModuleInit();
      lastUses.record('key_zoo', 1_000);
      await jest.advanceTimersByTimeAsync(9_000);
      expect(saved()).toEqual([{ key_zoo: 1_000 }]);
      await lastUses.beforeApplicationShutdown();
    } finally {
      jest.useRealTimers();
    }
  });

  it('fails nobody for one that cannot be saved, and writes the next one down', async () => {
    lastUses.record('key_zoo', 1_000);
    write.mockRejectedValueOnce(new Error('disk full'));
    await lastUses.beforeApplicationShutdown();
    expect(logger.debug).toHaveBeenCalledTimes(1);
    lastUses.record('key_zoo', 2_000);
    await lastUses.beforeApplicationShutdown();
    expect(saved()).toEqual([{ key_zoo: 2_000 }]);
  });
});

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
  let metrics: Metrics;
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
      record: (keyId, atMs) => void uses.push([keyId, atMs]),
    };
    metrics = new Metrics();
    directory = new KeyDirectory(
      { observe, first } as unknown as Engine,
      { watch: (watched: Look) => ((look = watched), watch) } as unknown as Poller,
      clock,
      lastUses as LastUses,
      metrics,
      new SharedNames(),
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

  it('lets few newcomers in where there is hardly any room, but those whose key has ended', async () => {
    Object.assign(directory, { callers: new CallerTable(16, new SharedNames()) });
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
    const come = async (digest: string, revokedAt: number | null = null) => {
      rows = [{ ...zoo, digest, revokedAt }];
      return directory.load(digest);
    };
    for (let count = 0; count < 15; count++) await come(`digest-${count}`);
    expect(directory.remembered('digest-14')).toBeDefined();
    expect(await come('newcomer')).toMatchObject({ keyId: 'key_zoo' });
    expect(directory.remembered('newcomer')).toBeUndefined();
    for (let count = 0; count < 20; count++) {
      expect(await come(`ended-${count}`, 1)).toBeUndefined();
      expect(directory.formerly(`ended-${count}`)?.why).toBe('revoked');
    }
    expect(directory.formerly('ended-0')).toBeUndefined();
    random.mockReturnValue(0);
    await come('newcomer');
    expect(directory.remembered('newcomer')).toBeDefined();
    random.mockRestore();
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
