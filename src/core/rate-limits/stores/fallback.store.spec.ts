import type { Config } from '../../config/config.js';
import { FakeClock } from '../../../../test/support/clock.js';
import { ExplainedError } from '../../config/fixes.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Decision } from './rate-limit-store.js';
import { FallbackStore } from './fallback.store.js';
import { MemoryStore } from './memory.store.js';
import type { RedisStore } from './redis.store.js';
import { dayOf, minuteOf } from '../../time/windows.js';

const PROBE_MS = 100;

describe(FallbackStore.name, () => {
  const limits = { perMinute: 5, perDay: 50 };
  const clock = new FakeClock();
  const nowMs = clock.now();
  const redis = { take: jest.fn(), peek: jest.fn(), probe: jest.fn() };
  const logger = { error: jest.fn(), info: jest.fn() };
  let memory: MemoryStore;
  let store: FallbackStore;

  const shared = (minuteUsed: number, more: Partial<Decision> = {}): Decision => ({
    admitted: true,
    nowMs,
    minute: minuteOf(nowMs),
    minuteUsed,
    day: dayOf(nowMs),
    dayUsed: minuteUsed,
    bannedUntilMs: 0,
    ...more,
  });
  const isGone = (): void => {
    for (const each of Object.values(redis)) each.mockRejectedValue(new Error('gone'));
  };
  const isBack = (minuteUsed = 1): void => {
    redis.take.mockResolvedValue(shared(minuteUsed));
    redis.peek.mockResolvedValue(shared(minuteUsed));
    redis.probe.mockResolvedValue(undefined);
  };

  const isProbed = () => jest.advanceTimersByTimeAsync(PROBE_MS);

  beforeEach(async () => {
    jest.resetAllMocks();
    jest.useFakeTimers();
    isBack();
    memory = new MemoryStore(clock, { banAfterRejections: 3, banSeconds: 60 } as Config);
    store = new FallbackStore(redis as unknown as RedisStore, memory, logger as unknown as Logger);
    await store.onApplicationBootstrap();
  });
  afterEach(() => {
    store.onApplicationShutdown();
    jest.useRealTimers();
  });

  it('continues from the counts of Redis when Redis fails, and fails no request', async () => {
    isBack(4);
    await store.take('zoo', limits);
    isGone();
    expect(await store.take('zoo', limits)).toMatchObject({ admitted: true, minuteUsed: 5 });
    expect(await store.take('zoo', limits)).toMatchObject({ admitted: false, minuteUsed: 5 });
    expect(store.mode).toBe('fallback');
  });

  it('marks counts of Redis as changed, so that they are saved when Redis fails', async () => {
    isBack(5);
    await store.take('zoo', limits);
    isGone();
    await store.take('owl', limits);
    expect(memory.takeChanged()).toMatchObject([
      { key: 'zoo', dayUsed: 5 },
      { key: 'owl', dayUsed: 1 },
    ]);
  });

  it('logs the loss of Redis once, and calls it at most once per simultaneous request', async () => {
    isGone();
    await Promise.all([1, 2, 3].map(async (request) => store.take(`zoo-${request}`, limits)));
    await jest.advanceTimersByTimeAsync(4 * PROBE_MS);
    await store.take('zoo', limits);
    await store.peek('zoo');
    expect(redis.take).toHaveBeenCalledTimes(3);
    expect(redis.peek).not.toHaveBeenCalled();
    expect(redis.probe.mock.calls.length).toBeGreaterThan(3);
    const fallback = expect.stringMatching(/Redis.*falling back/);
    expect(logger.error.mock.calls).toEqual([[{ reason: 'gone' }, fallback]]);
  });

  it('logs the outage again when its fix changes', async () => {
    for (const [reason, fix] of [
      ['no right', 'grant it'],
      ['no memory', 'raise maxmemory'],
      ['still none', 'raise maxmemory'],
    ] as const) {
      redis.probe.mockRejectedValue(new ExplainedError(reason, fix));
      await jest.advanceTimersByTimeAsync(3 * PROBE_MS);
    }
    expect(logger.error.mock.calls.map(([{ reason }]) => reason as string)).toEqual([
      'no right; grant it',
      'no memory; raise maxmemory',
    ]);
  });

  it('returns to Redis with the first reply from the slot that failed', async () => {
    isGone();
    await store.take('zoo', limits);
    await jest.advanceTimersByTimeAsync(3 * PROBE_MS);
    expect(store.mode).toBe('fallback');
    expect(logger.info).not.toHaveBeenCalled();
    isBack();
    await isProbed();
    expect(redis.probe).toHaveBeenLastCalledWith('zoo');
    expect(store.mode).toBe('shared');
    expect(logger.info).toHaveBeenCalledTimes(1);
  });

  it('detects the loss of Redis without a request', async () => {
    isGone();
    await jest.advanceTimersByTimeAsync(PROBE_MS);
    expect(store.mode).toBe('fallback');
    isBack();
    await isProbed();
    expect(store.mode).toBe('shared');
  });

  it('probes no more after the shutdown, not even if a probe was in progress', async () => {
    let finish = (): void => undefined;
    redis.probe.mockReturnValueOnce(new Promise<void>((resolve) => (finish = resolve)));
    await isProbed();
    redis.probe.mockClear();
    store.onApplicationShutdown();
    finish();
    await jest.advanceTimersByTimeAsync(10 * PROBE_MS);
    expect(redis.probe).not.toHaveBeenCalled();
  });

  it('peeks at the counts of this process if Redis fails', async () => {
    isBack(4);
    await store.take('zoo', limits);
    expect(await store.peek('zoo')).toMatchObject({ minuteUsed: 4 });
    isGone();
    expect(await store.peek('zoo')).toMatchObject({ minuteUsed: 4 });
    expect(store.mode).toBe('fallback');
    expect(await store.peek('zoo')).toMatchObject({ minuteUsed: 4 });
  });

  describe('with a ban', () => {
    const ban = { at: nowMs, until: nowMs + 60_000, bans: 1 };
    const banned = { admitted: false, bannedUntilMs: ban.until };
    beforeEach(async () => {
      redis.take.mockResolvedValueOnce(shared(5, { ...banned, newBan: ban }));
      expect(await store.take('zoo', limits)).toMatchObject(banned);
    });

    it.each(['started', 'lifted'])('passes to Redis that it was %s', async (what) => {
      const known = what === 'started' ? ban : { ...ban, until: 0 };
      memory.restoreBan('zoo', known);
      await store.take('zoo', limits);
      expect(redis.take).toHaveBeenLastCalledWith('zoo', limits, known);
      await store.peek('zoo');
      expect(redis.peek).toHaveBeenLastCalledWith('zoo', known);
    });

    it('keeps it when Redis fails, until it is lifted', async () => {
      isGone();
      expect(await store.take('zoo', limits)).toMatchObject(banned);
      memory.restoreBan('zoo', { ...ban, until: 0 });
      expect(await store.take('zoo', limits)).toMatchObject({ bannedUntilMs: 0 });
    });
  });
});
