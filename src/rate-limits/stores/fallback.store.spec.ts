import { FakeClock } from '../../../test/support/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Decision } from './rate-limit-store.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { FallbackStore } from './fallback.store.js';
import { Limits } from '../limits.js';
import { MemoryStore } from './memory.store.js';
import type { RedisStore, SharedDecision } from './redis.store.js';
import { dayOf, minuteOf } from '../../time/windows.js';

const PROBE_MS = 250;

describe(FallbackStore.name, () => {
  const limits = new Limits(5, 50);
  const clock = new FakeClock();
  const nowMs = clock.now();
  const redis = { take: jest.fn(), peek: jest.fn(), probe: jest.fn(), unban: jest.fn() };
  const metrics = { setQuotaStore: jest.fn() };
  const logger = { error: jest.fn(), info: jest.fn() };
  let memory: MemoryStore;
  let store: FallbackStore;

  const shared = (minuteUsed: number, more: Partial<SharedDecision> = {}): SharedDecision => ({
    admitted: true,
    nowMs,
    minute: minuteOf(nowMs),
    minuteUsed,
    day: dayOf(nowMs),
    dayUsed: minuteUsed,
    bannedUntilMs: 0,
    ban: undefined,
    ...more,
  });
  const isGone = (): void => {
    for (const each of Object.values(redis)) each.mockRejectedValue(new Error('gone'));
  };
  const isBack = (minuteUsed = 1): void => {
    redis.take.mockResolvedValue(shared(minuteUsed));
    redis.peek.mockResolvedValue(shared(minuteUsed));
    redis.probe.mockResolvedValue(undefined);
    redis.unban.mockResolvedValue(undefined);
  };

  const isSteady = () => jest.advanceTimersByTimeAsync(6 * PROBE_MS);

  beforeEach(async () => {
    jest.resetAllMocks();
    jest.useFakeTimers();
    isBack();
    memory = new MemoryStore(clock, { afterRejections: 3, firstBanMs: 60_000 });
    store = new FallbackStore(
      redis as unknown as RedisStore,
      memory,
      metrics as unknown as Metrics,
      logger as unknown as Logger,
    );
    await store.onApplicationBootstrap();
  });
  afterEach(() => {
    store.onApplicationShutdown();
    jest.useRealTimers();
  });

  it('goes on where Redis was when Redis fails, and fails no request for it', async () => {
    isBack(4);
    await store.take('zoo', limits);
    isGone();
    expect(await store.take('zoo', limits)).toMatchObject({ admitted: true, minuteUsed: 5 });
    expect(await store.take('zoo', limits)).toMatchObject({ admitted: false, minuteUsed: 5 });
    expect(store.mode).toBe('fallback');
  });

  it('has what Redis counted kept, and what it says after it was given up', async () => {
    isBack(5);
    await store.take('zoo', limits);
    const late = store.take('ark', limits);
    isGone();
    await store.take('owl', limits);
    await late;
    expect(memory.takeUnsaved(9)).toMatchObject([
      { subject: 'zoo', dayUsed: 5 },
      { subject: 'ark', dayUsed: 5 },
      { subject: 'owl', dayUsed: 1 },
    ]);
  });

  describe('with an answer of Redis that comes once it is given up', () => {
    let answer: (decision: SharedDecision) => void;
    let late: Decision | Promise<Decision>;
    const further = { operation: 'feed', limit: 9, ttlMs: 60_000 };
    const isGivenUp = async (taken: number): Promise<void> => {
      redis.take.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
      late = store.take('zoo', limits, further);
      isGone();
      for (let request = 0; request < taken; request++) await store.take('zoo', limits, further);
      await jest.advanceTimersByTimeAsync(2 * PROBE_MS);
      expect(store.mode).toBe('fallback');
    };

    it('admits no more than there is room for by its own counters', async () => {
      await isGivenUp(limits.perMinute);
      answer(shared(1));
      expect(await late).toMatchObject({ admitted: false, minuteUsed: 5 });
    });

    it('counts its request once', async () => {
      await isGivenUp(0);
      answer(shared(2, { furtherCount: { window: minuteOf(nowMs), used: 2 } }));
      expect(await late).toMatchObject({ admitted: true, minuteUsed: 2, dayUsed: 2 });
      expect(memory.furtherCount('zoo', further).used).toBe(2);
    });

    it('tells of the ban that it began with', async () => {
      await isGivenUp(0);
      const ban = { at: nowMs, until: nowMs + 60_000, bans: 1 };
      const bannedUntilMs = ban.until;
      answer(shared(5, { admitted: false, bannedUntilMs, beganBan: true, ban }));
      expect(await late).toMatchObject({ newBan: ban, beganBan: true, bannedUntilMs });
      expect(memory.isBanned('zoo')).toBe(true);
    });
  });

  it('sends along what it counted by itself, so that Redis goes on from there', async () => {
    isGone();
    for (let request = 0; request < 3; request++) await store.take('zoo', limits);
    isBack();
    await isSteady();
    await store.take('zoo', limits);
    const [, , known] = redis.take.mock.lastCall as [string, Limits, object];
    expect(known).toMatchObject({ minuteUsed: 3, dayUsed: 3 });
  });

  it('asks Redis once in vain, not once a request, and says so once', async () => {
    isGone();
    for (let request = 0; request < 5; request++) await store.take('zoo', limits);
    expect(redis.take).toHaveBeenCalledTimes(1);
    expect(logger.error).toHaveBeenCalledTimes(1);
    expect(metrics.setQuotaStore.mock.calls).toEqual([['redis'], ['fallback']]);
  });

  it('says once that Redis is lost, however many notice it, and for however long', async () => {
    isGone();
    await Promise.all([1, 2, 3].map(async (request) => store.take(`zoo-${request}`, limits)));
    await jest.advanceTimersByTimeAsync(4 * PROBE_MS);
    expect(redis.probe.mock.calls.length).toBeGreaterThan(3);
    expect(logger.error).toHaveBeenCalledTimes(1);
  });

  it('returns by itself, by a probe of that part of Redis which failed', async () => {
    isGone();
    await store.take('zoo', limits);
    await jest.advanceTimersByTimeAsync(3 * PROBE_MS);
    expect(store.mode).toBe('fallback');
    isBack();
    await isSteady();
    expect(redis.probe).toHaveBeenLastCalledWith('zoo');
    expect(store.mode).toBe('redis');
    expect(metrics.setQuotaStore).toHaveBeenLastCalledWith('redis');
    expect(logger.info).toHaveBeenCalledTimes(1);
  });

  it('notices the loss of Redis without a request, and at its start', async () => {
    isGone();
    await jest.advanceTimersByTimeAsync(PROBE_MS);
    expect(store.mode).toBe('fallback');
    isBack();
    await isSteady();
    expect(store.mode).toBe('redis');
  });

  it('does not come back to a Redis that wavers', async () => {
    isGone();
    await store.take('zoo', limits);
    for (let round = 0; round < 10; round++) {
      isBack();
      await jest.advanceTimersByTimeAsync(5 * PROBE_MS);
      expect(store.mode).toBe('fallback');
      redis.probe.mockRejectedValueOnce(new Error('late'));
      await jest.advanceTimersByTimeAsync(PROBE_MS);
    }
    expect(metrics.setQuotaStore.mock.calls).toEqual([['redis'], ['fallback']]);
    await isSteady();
    expect(store.mode).toBe('redis');
  });

  it('does not probe a Redis that was asked just now', async () => {
    redis.probe.mockClear();
    await store.take('zoo', limits);
    await jest.advanceTimersByTimeAsync(PROBE_MS);
    expect(redis.probe).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(PROBE_MS);
    expect(redis.probe).toHaveBeenCalledTimes(1);
  });

  it('looks at the counts of this process where Redis cannot be asked', async () => {
    isBack(4);
    await store.take('zoo', limits);
    expect(await store.peek('zoo')).toMatchObject({ minuteUsed: 4 });
    isGone();
    expect(await store.peek('zoo')).toMatchObject({ minuteUsed: 4 });
    expect(store.mode).toBe('fallback');
    expect(await store.peek('zoo')).toMatchObject({ minuteUsed: 4 });
  });

  it('tells what this node knows where Redis has lost it, as the next request is told', async () => {
    isBack(4);
    await store.take('zoo', limits);
    isBack(0);
    expect(await store.peek('zoo')).toMatchObject({ minuteUsed: 4, dayUsed: 4 });
    const tomorrow = { minute: minuteOf(nowMs) + 1_440, day: dayOf(nowMs) + 1 };
    redis.peek.mockResolvedValue(shared(0, tomorrow));
    expect(await store.peek('zoo')).toMatchObject({ minuteUsed: 0, dayUsed: 0 });
  });

  describe('with a ban', () => {
    const ban = { at: nowMs, until: nowMs + 60_000, bans: 1 };
    const banned = shared(5, { admitted: false, bannedUntilMs: ban.until, ban });
    let first: Decision;
    beforeEach(async () => {
      redis.take.mockImplementation(() => Promise.resolve({ ...banned }));
      first = await store.take('zoo', limits);
      redis.take.mockClear();
    });

    it('tells of it once, for the other nodes, and asks Redis no more while it lasts', async () => {
      expect(first.newBan).toEqual(ban);
      expect(await store.take('zoo', limits)).toMatchObject({ bannedUntilMs: ban.until });
      expect(await store.peek('zoo')).toMatchObject({ bannedUntilMs: ban.until });
      expect((await store.take('zoo', limits)).newBan).toBeUndefined();
      expect(redis.take).not.toHaveBeenCalled();
    });

    it('tells what Redis has counted of it, though this node has not', async () => {
      memory.restoreBan('ark', ban);
      isBack(5);
      expect(await store.peek('ark')).toMatchObject({
        admitted: false,
        minuteUsed: 5,
        bannedUntilMs: ban.until,
      });
    });

    it('keeps it when Redis is lost', async () => {
      isGone();
      await jest.advanceTimersByTimeAsync(PROBE_MS);
      expect(await store.take('zoo', limits)).toMatchObject({ bannedUntilMs: ban.until });
    });

    it('ends it here and there, and is not talked back into it by an answer on its way', async () => {
      await store.unban('zoo');
      expect(redis.unban).toHaveBeenCalledWith('zoo');
      expect((await store.take('zoo', limits)).newBan).toBeUndefined();
      expect(memory.isBanned('zoo')).toBe(false);
    });

    it('ends it without Redis as well', async () => {
      isGone();
      await store.unban('zoo');
      expect(await store.take('zoo', limits)).toMatchObject({ bannedUntilMs: 0 });
    });
  });
});
