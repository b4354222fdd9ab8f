import type { DataSource } from 'typeorm';
import type { Database } from '../database/database.js';
import { type RateLimitStore, STORE_MODES } from '../rate-limits/stores/rate-limit-store.js';
import type { Logger } from '../telemetry/logger.js';
import { DatabaseFaults } from '../database/database-faults.js';
import { Readiness } from './readiness.js';

const reachable = () => Promise.resolve();
const gone = () => Promise.reject(new Error('gone'));

describe(Readiness.name, () => {
  const logged: string[] = [];
  const logger = { error: (_details: object, message: string) => void logged.push(message) };
  let faults: DatabaseFaults;
  beforeEach(() => {
    logged.length = 0;
    faults = new DatabaseFaults(logger as Logger, {} as DataSource);
  });

  function readiness(mode: RateLimitStore['mode'], ping: () => Promise<void>): Readiness {
    return new Readiness({ ping } as Database, faults, { mode } as RateLimitStore);
  }

  it.each([
    ['local', reachable, 'ok', 'ok'],
    ['shared', reachable, 'ok', 'ok'],
    ['fallback', reachable, 'degraded', 'ok'],
    ['local', gone, 'unavailable', 'unavailable'],
    ['fallback', gone, 'unavailable', 'unavailable'],
  ] as const)(
    'reports counters in %s and a database that is %p as %s',
    async (mode, ping, status, database) => {
      expect(await readiness(mode, ping).check()).toEqual({
        status,
        checks: { database, counters: STORE_MODES[mode] },
      });
    },
  );

  it('checks once for all who ask at the same time, and again for those who ask later', async () => {
    const ping = jest.fn(reachable);
    const asked = readiness('local', ping);
    const all = Promise.all(Array.from({ length: 100 }, () => asked.check()));
    asked.isDraining = true;
    expect(new Set((await all).map(({ status }) => status))).toEqual(new Set(['unavailable']));
    expect(ping).toHaveBeenCalledTimes(1);
    asked.isDraining = false;
    expect(await asked.check()).toMatchObject({ status: 'ok' });
    expect(ping).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['SQLITE_CORRUPT', 'unavailable', 'damaged'],
    ['SQLITE_FULL', 'degraded', 'disk full'],
    ['53100', 'degraded', 'disk full'],
    ['SQLITE_BUSY', 'ok', 'ok'],
  ])('reports %s as %s, with the cause', async (code, status, database) => {
    faults.report({ driverError: { code } });
    faults.report({ driverError: { code } });
    expect(await readiness('local', reachable).check()).toMatchObject({
      status,
      checks: { database },
    });
    expect(logged).toHaveLength(status === 'ok' ? 0 : 1);
  });

  it('reports ok a minute after the last write to a full disk, but never after damage', async () => {
    jest.useFakeTimers();
    const check = async () => (await readiness('local', reachable).check()).status;
    faults.report({ code: 'SQLITE_FULL' });
    jest.advanceTimersByTime(60_001);
    expect(await check()).toBe('ok');
    faults.report({ code: 'SQLITE_CORRUPT' });
    jest.advanceTimersByTime(60_001);
    expect(await check()).toBe('unavailable');
    jest.useRealTimers();
  });

  it('reports unavailable while the server drains, although the database is available', async () => {
    const draining = readiness('local', reachable);
    draining.isDraining = true;
    expect(await draining.check()).toEqual({
      status: 'unavailable',
      checks: { database: 'ok', counters: 'memory' },
    });
  });
});
