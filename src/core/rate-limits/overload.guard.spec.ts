import type { ExecutionContext } from '@nestjs/common';
import type { Config } from '../config/config.js';
import type { ApiError } from '../errors/api-error.js';
import type { Transport } from '../http/transport.js';
import type { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { OverloadGuard, OverloadMonitor } from './overload.guard.js';
import type { RateLimiter } from './rate-limiter.js';

const LATE = 300;

describe(OverloadMonitor.name, () => {
  const logger = { warn: jest.fn(), info: jest.fn() };
  let monitor: OverloadMonitor;
  let nowMs: number;
  beforeEach(() => {
    jest.resetAllMocks();
    nowMs = 0;
    monitor = new OverloadMonitor(
      { shedAfterMs: 250 } as Config,
      new Metrics(),
      logger as unknown as Logger,
      {} as Transport,
    );
  });

  /** Samples of this lag for this long, one each 50 ms, or as often as the lag permits. */
  const lag = (lagMs: number, forMs: number): void => {
    const untilMs = nowMs + forMs;
    while (nowMs < untilMs) monitor.sample(lagMs, (nowMs += Math.max(50, lagMs)));
  };

  it('is overloaded after a second of constant lag, until the event loop has caught up', () => {
    lag(LATE, 900);
    expect(monitor.isOverloaded).toBe(false);
    lag(LATE, 900);
    expect(monitor.isOverloaded).toBe(true);
    lag(LATE, 10_000);
    expect(monitor.isOverloaded).toBe(true);
    lag(0, 50);
    expect(monitor.isOverloaded).toBe(false);
    lag(LATE, 900);
    expect(monitor.isOverloaded).toBe(false);
  });

  it.each([
    ['a single pause, however long', [[60_000, 1]]],
    ['lag with an interruption', Array.from({ length: 9 }, () => [LATE, 900]).concat([[0, 1]])],
    ['lag below the threshold', [[200, 60_000]]],
  ])('is not overloaded by %s', (_what, samples) => {
    for (const [lagMs, forMs] of samples) {
      lag(lagMs!, forMs!);
      lag(0, 50);
      expect(monitor.isOverloaded).toBe(false);
    }
  });

  describe('with timers', () => {
    beforeEach(() => jest.useFakeTimers());
    afterEach(() => jest.useRealTimers());

    /** A monitor of an event loop without lag, in which requests wait for this long. */
    const started = (shedAfterMs: number, waitMs = 0): OverloadMonitor => {
      const created = new OverloadMonitor(
        { shedAfterMs } as Config,
        new Metrics(),
        logger as unknown as Logger,
        { queue: { takeLongestWaitMs: () => waitMs } } as Transport,
      );
      created.onApplicationBootstrap();
      return created;
    };

    it('measures nothing if SHED_AFTER_MS is 0', () => {
      started(0);
      expect(jest.getTimerCount()).toBe(0);
    });

    it('is overloaded while requests wait for too long', () => {
      const waiting = started(250, LATE);
      jest.advanceTimersByTime(900);
      expect(waiting.isOverloaded).toBe(false);
      jest.advanceTimersByTime(200);
      expect(waiting.isOverloaded).toBe(true);
    });

    it('is not overloaded while timers run on time, however low the threshold', () => {
      const idle = started(10);
      jest.advanceTimersByTime(5_000);
      expect(idle.isOverloaded).toBe(false);
    });

    it('measures nothing after the shutdown', () => {
      started(250).onApplicationShutdown();
      expect(jest.getTimerCount()).toBe(0);
    });
  });

  it('logs the beginning and the end', () => {
    lag(LATE, 2_000);
    lag(0, 50);
    const began = { event: 'shed', phase: 'began', lateMs: LATE };
    expect(logger.warn.mock.calls).toEqual([[began, expect.any(String)]]);
    const ended = { event: 'shed', phase: 'ended' };
    expect(logger.info.mock.calls).toEqual([[ended, expect.any(String)]]);
  });
});

describe(OverloadGuard.name, () => {
  const quota = { key: 'zoo', limits: { perMinute: 1, perDay: 1 } };
  const caller = { quota };
  const limiter = { describe: jest.fn() };
  const monitor = { isOverloaded: true, shedRequests: { inc: jest.fn() } };
  const guard = new OverloadGuard(
    monitor as unknown as OverloadMonitor,
    limiter as unknown as RateLimiter,
  );
  const contextOf = (request: object): ExecutionContext =>
    ({ getArgByIndex: (index: number) => [request, 'reply'][index] }) as ExecutionContext;

  it('responds 503 with Retry-After and the headers of the quota, uncounted', async () => {
    await expect(guard.canActivate(contextOf({ caller }))).rejects.toMatchObject({
      code: 'service_unavailable',
      headers: { 'Retry-After': expect.stringMatching(/^[123]$/) },
    });
    expect(limiter.describe).toHaveBeenCalledWith(quota, 'reply');
    expect(monitor.shedRequests.inc).toHaveBeenCalledTimes(1);
  });

  it('tells clients to retry after 1, 2 or 3 seconds, so that they do not return together', async () => {
    const waits = new Set<unknown>();
    for (let request = 0; request < 200; request++) {
      const rejection = guard.canActivate(contextOf({ caller })) as Promise<never>;
      const { headers } = await rejection.catch((error: unknown) => error as ApiError);
      waits.add(headers!['Retry-After']);
    }
    expect([...waits].sort()).toEqual(['1', '2', '3']);
  });

  it('admits public operations, and everything while there is no overload', () => {
    expect(guard.canActivate(contextOf({}))).toBe(true);
    monitor.isOverloaded = false;
    expect(guard.canActivate(contextOf({ caller }))).toBe(true);
  });
});
