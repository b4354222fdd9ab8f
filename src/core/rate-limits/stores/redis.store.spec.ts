import type { Config } from '../../config/config.js';
import type { RedisClient } from '../../redis/redis.client.js';
import { RedisStore } from './redis.store.js';

const TIMEOUT_MS = 500;
const LIMITS = { perMinute: 5, perDay: 50 };

describe(RedisStore.name, () => {
  let redisAheadMs: number;
  let deadlines: number[];
  let store: RedisStore;
  const redisNow = () => Math.floor(performance.now()) + redisAheadMs;
  beforeEach(() => {
    redisAheadMs = 1_000_000;
    deadlines = [];
    const run = (_script: unknown, _key: string, args: number[]) => {
      const deadline = args.at(-1)!;
      deadlines.push(deadline);
      const isInTime = redisNow() <= deadline;
      return Promise.resolve(isInTime ? [1, redisNow(), 0, 1, 0, 1, 0, 0, 0] : [-1, redisNow()]);
    };
    const client = { timeoutMs: TIMEOUT_MS, define: () => undefined, run };
    store = new RedisStore(client as unknown as RedisClient, {} as Config);
  });

  it('gives a command as long as it waits for the reply, by the clock of Redis', async () => {
    await store.take('key', LIMITS, undefined);
    const before = redisNow();
    await store.take('key', LIMITS, undefined);
    expect(deadlines[1]).toBeGreaterThanOrEqual(before + TIMEOUT_MS);
    // The clock of Redis is known as well as the time of the first command.
    expect(deadlines[1]).toBeLessThan(redisNow() + 2 * TIMEOUT_MS);
  });

  it('sends a command again that was too late because the clock of Redis was set', async () => {
    await store.take('key', LIMITS, undefined);
    redisAheadMs += 3_600_000;
    const { admitted, nowMs } = await store.take('key', LIMITS, undefined);
    expect([admitted, nowMs > 3_600_000, deadlines.length]).toEqual([true, true, 3]);
    redisAheadMs -= 3_600_000;
    await store.take('key', LIMITS, undefined);
    await store.take('key', LIMITS, undefined);
    expect(deadlines).toHaveLength(5);
    expect(deadlines[4]).toBeLessThan(redisNow() + 2 * TIMEOUT_MS);
  });
});
