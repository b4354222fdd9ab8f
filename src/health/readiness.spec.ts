import { type Engine } from '../database/engine.js';
import { type RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import { Readiness } from './readiness.js';

const reachable = () => Promise.resolve();
const gone = () => Promise.reject(new Error('gone'));

function readiness(mode: RateLimitStore['mode'], ping: () => Promise<void>): Readiness {
  return new Readiness({ ping } as Engine, { mode } as RateLimitStore);
}

describe(Readiness.name, () => {
  it.each([
    ['memory', reachable, 'ok', 'ok'],
    ['redis', reachable, 'ok', 'ok'],
    ['fallback', reachable, 'degraded', 'ok'],
    ['memory', gone, 'unavailable', 'unavailable'],
    ['fallback', gone, 'unavailable', 'unavailable'],
  ] as const)('with counters in %s, and %p, is %s', async (mode, ping, status, database) => {
    expect(await readiness(mode, ping).check()).toEqual({
      status,
      checks: { database, counters: mode },
    });
  });

  it('is unavailable while draining, with a database that is not', async () => {
    const draining = readiness('memory', reachable);
    expect(draining.isDraining).toBe(false);
    draining.drain();
    expect(draining.isDraining).toBe(true);
    expect(await draining.check()).toEqual({
      status: 'unavailable',
      checks: { database: 'ok', counters: 'memory' },
    });
  });
});
