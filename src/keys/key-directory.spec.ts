import { FakeClock } from '../../test/support/clock.js';
import type { Engine } from '../database/engine.js';
import type { Poller } from '../database/poller.js';
import type { Step, Work } from '../database/statement.js';
import type { Logger } from '../telemetry/logger.js';
import { KeyDirectory } from './key-directory.js';

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

describe(KeyDirectory.name, () => {
  let clock: FakeClock;
  let directory: KeyDirectory;
  let rows: (typeof zoo)[];
  let changes: { digest: string; changedAt: number; fresh: boolean }[];
  let lookUps: number;
  let written: Step[];
  let look: () => Promise<void>;
  let poller: { blindForMs: number; watch: (watched: typeof look) => void };
  const logger = { debug: jest.fn() };
  const write = jest.fn();

  beforeEach(() => {
    clock = new FakeClock();
    [rows, changes, written, lookUps] = [[{ ...zoo }], [], [], 0];
    poller = { blindForMs: 0, watch: (watched) => (look = watched) };
    write.mockReset().mockImplementation((work: () => Work<void>) => {
      const unit = work();
      for (let step = unit.next(); !step.done; step = unit.next([])) written.push(step.value);
      return Promise.resolve();
    });
    const query = (): unknown[] => changes;
    const first = (_find: unknown, digest: string): unknown => {
      lookUps++;
      return rows.find((row) => row.digest === digest);
    };
    directory = new KeyDirectory(
      { query, first, write } as unknown as Engine,
      poller as unknown as Poller,
      clock,
      logger as unknown as Logger,
    );
    directory.onModuleInit();
  });
  afterEach(() => directory.beforeApplicationShutdown());

  it('finds the caller of a key, with the quota of its client, and remembers it', async () => {
    expect(directory.remembered('zoo')).toBeUndefined();
    expect(await directory.load('zoo')).toMatchObject({
      keyId: 'key_zoo',
      scopes: new Set(['pets:read', 'pets:write']),
      quota: { subject: 'key_client', limits: { perMinute: 300, perDay: 10_000, bans: true } },
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

  it('forgets a caller whose key has changed, and only that one', async () => {
    rows.push({ ...zoo, id: 'key_ark', digest: 'ark' });
    await directory.load('zoo');
    await directory.load('ark');
    changes = [{ digest: 'zoo', changedAt: 2_000, fresh: false }];
    await look();
    expect(directory.remembered('zoo')).toBeUndefined();
    expect(directory.remembered('ark')).toBeDefined();
  });

  it('keeps a caller that it knows as changed, once no other change can share the moment', async () => {
    await directory.load('zoo');
    changes = [{ digest: 'zoo', changedAt: 1_000, fresh: false }];
    await look();
    expect(directory.remembered('zoo')).toBeDefined();
    changes = [{ digest: 'zoo', changedAt: 1_000, fresh: true }];
    await look();
    expect(directory.remembered('zoo')).toBeUndefined();
  });

  it('trusts what it remembers for five minutes without a look at the database', async () => {
    await directory.load('zoo');
    poller.blindForMs = 300_000;
    expect(directory.remembered('zoo')).toBeDefined();
    poller.blindForMs = 300_001;
    expect(directory.remembered('zoo')).toBeUndefined();
  });

  it('remembers a bounded number of callers, and forgets the oldest first', async () => {
    rows = [zoo];
    await directory.load('zoo');
    for (let count = 0; count < 100_000; count++) {
      rows = [{ ...zoo, digest: `digest-${count}` }];
      await directory.load(`digest-${count}`);
    }
    expect(directory.remembered('zoo')).toBeUndefined();
    expect(directory.remembered('digest-0')).toBeUndefined();
    expect(directory.remembered('digest-99999')).toBeDefined();
  });

  it('writes the last use of each key down once, in one order for all nodes', async () => {
    rows.push({ ...zoo, id: 'key_ark', digest: 'ark' });
    await directory.load('zoo');
    await directory.load('ark');
    clock.advance(1_000);
    directory.remembered('zoo');
    await directory.beforeApplicationShutdown();
    expect(written.map(({ parameters }) => parameters)).toEqual([
      [clock.now() - 1_000, 'key_ark'],
      [clock.now(), 'key_zoo'],
    ]);
    await directory.beforeApplicationShutdown();
    expect(written).toHaveLength(2);
  });

  it('writes last uses down every few seconds: they may lag 10', async () => {
    jest.useFakeTimers();
    try {
      directory.onModuleInit();
      await directory.load('zoo');
      jest.advanceTimersByTime(9_000);
      expect(written).toMatchObject([{ parameters: [clock.now(), 'key_zoo'] }]);
      await directory.beforeApplicationShutdown();
    } finally {
      jest.useRealTimers();
    }
  });

  it('fails nobody for a last use that cannot be saved', async () => {
    await directory.load('zoo');
    write.mockRejectedValueOnce(new Error('disk full'));
    await directory.beforeApplicationShutdown();
    expect(logger.debug).toHaveBeenCalledTimes(1);
  });
});
