import { setImmediate as writing } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import { FakeClock } from '../../../test/support/clock.js';
import { NO_FAULTS } from '../../../test/support/no-faults.js';
import { BackgroundTasks } from '../database/background-tasks.js';
import type { ChangePoller } from '../database/change-poller.js';
import type { Logger } from '../telemetry/logger.js';
import { DAY_MS, dayOf, minuteOf } from '../time/windows.js';
import type { BanRepository } from './bans/ban.repository.js';
import { CounterPersistence } from './counter-persistence.js';
import type { CounterRepository } from './counter.repository.js';
import { MemoryStore } from './stores/memory.store.js';
import type { RateLimitCounter } from './rate-limit-counter.entity.js';
import type { RateLimitStore } from './stores/rate-limit-store.js';
import { addressRateLimitKey } from './rate-limit-key.js';

const limits = { perMinute: 2, perDay: 100 };
const MAX_ADDRESSES = 100_000;

describe(CounterPersistence.name, () => {
  let clock: FakeClock;
  let memory: MemoryStore;
  let persistence: CounterPersistence;
  let background: BackgroundTasks;
  /** The rows of the database. */
  let rows: Map<string, RateLimitCounter>;
  const store: { mode: RateLimitStore['mode'] } = { mode: 'local' };
  const counters = {
    save: jest.fn(),
    since: jest.fn(),
    forgetBefore: jest.fn(),
    forgetAddressesBefore: jest.fn(),
  };
  const logger = { warn: jest.fn(), info: jest.fn() };

  beforeEach(() => {
    jest.resetAllMocks();
    jest.useFakeTimers();
    rows = new Map();
    store.mode = 'local';
    counters.save.mockImplementation((counts: RateLimitCounter[]) => {
      for (const count of counts) rows.set(count.key, { ...count });
      return Promise.resolve();
    });
    counters.since.mockResolvedValue([]);
    counters.forgetBefore.mockResolvedValue(undefined);
    counters.forgetAddressesBefore.mockResolvedValue(undefined);
    clock = new FakeClock();
    memory = new MemoryStore(clock, { banAfterRejections: 1, banSeconds: 10 } as Config);
    background = new BackgroundTasks(logger as unknown as Logger, NO_FAULTS);
    persistence = new CounterPersistence(
      memory,
      store as RateLimitStore,
      counters as unknown as CounterRepository,
      {} as BanRepository,
      { subscribe: jest.fn() } as unknown as ChangePoller,
      clock,
      background,
    );
  });
  const start = async () => {
    await persistence.onModuleInit();
    background.onApplicationBootstrap();
  };
  afterEach(async () => {
    await Promise.all([background.beforeApplicationShutdown(), pass(10_000)]);
    jest.useRealTimers();
  });

  const take = (key = 'zoo') => memory.take(key, limits);
  const isDown = () => counters.save.mockRejectedValue(new Error('database is down'));
  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('counts in the current windows what was counted in windows of the future', async () => {
    const [minute, day] = [minuteOf(clock.now()), dayOf(clock.now())];
    const saved = { key: 'zoo', minute: minute + 60, minuteUsed: 2, day: day + 1, dayUsed: 50 };
    counters.since.mockResolvedValue([saved]);
    await start();
    expect(take()).toMatchObject({ admitted: false, minute, day, dayUsed: 50 });
    clock.advance(60_000);
    expect(take()).toMatchObject({ admitted: true, minute: minute + 1, dayUsed: 51 });
  });

  it('keeps unsaved counters for the next attempt, and logs an outage once', async () => {
    await start();
    isDown();
    take();
    await pass(2_000);
    take();
    expect(counters.save.mock.calls.length).toBeGreaterThan(2);
    expect(logger.warn).toHaveBeenCalledTimes(1);
    counters.save.mockImplementation((counts: RateLimitCounter[]) => {
      for (const count of counts) rows.set(count.key, { ...count });
      return Promise.resolve();
    });
    await pass(500);
    expect(rows.get('zoo')).toMatchObject({ dayUsed: 2 });
  });

  it('is bounded while nothing can be saved', async () => {
    await start();
    isDown();
    for (let host = 0; host < MAX_ADDRESSES + 5_000; host++) {
      take(addressRateLimitKey(`10.0.${host}`));
      if (host % 10_000 === 0) await pass(500);
    }
    expect(memory.size).toBe(MAX_ADDRESSES);
    expect(memory.takeChanged().length).toBe(MAX_ADDRESSES);
  });

  it('saves at shutdown the counters that changed during the last save', async () => {
    await start();
    take();
    let finish = (): void => undefined;
    counters.save.mockReturnValueOnce(new Promise<void>((resolve) => (finish = resolve)));
    counters.save.mockImplementationOnce(async ([count]: RateLimitCounter[]) => {
      await writing();
      rows.set('zoo', count!);
    });
    await pass(500);
    take();
    const stopped = background.beforeApplicationShutdown();
    finish();
    await stopped;
    expect(rows.get('zoo')).toMatchObject({ dayUsed: 2 });
  });

  it('saves the counts of Redis every 5 s, when Redis fails, and at shutdown', async () => {
    await start();
    const [minute, day] = [minuteOf(clock.now()), dayOf(clock.now())];
    store.mode = 'shared';
    memory.mirror({ key: 'zoo', minute, minuteUsed: 1, day, dayUsed: 7 });
    await pass(4_500);
    expect(rows.size).toBe(0);
    await pass(500);
    expect(rows.get('zoo')).toMatchObject({ dayUsed: 7 });
    memory.mirror({ key: 'zoo', minute, minuteUsed: 1, day, dayUsed: 8 });
    store.mode = 'fallback';
    await pass(500);
    expect(rows.get('zoo')).toMatchObject({ dayUsed: 8 });
    store.mode = 'shared';
    memory.mirror({ key: 'zoo', minute, minuteUsed: 1, day, dayUsed: 9 });
    await background.beforeApplicationShutdown();
    expect(rows.get('zoo')).toMatchObject({ dayUsed: 9 });
  });

  it('forgets counters of the days before yesterday, and tries again after a failure', async () => {
    await start();
    take();
    clock.advance(2 * DAY_MS);
    counters.forgetBefore.mockRejectedValueOnce(new Error('database is down'));
    await pass(60_000);
    expect(memory.size).toBe(0);
    expect(logger.warn).toHaveBeenCalledTimes(1);
    await pass(60_000);
    expect(counters.forgetBefore).toHaveBeenLastCalledWith(
      dayOf(clock.now()) - 1,
      expect.any(AbortSignal),
    );
    expect(counters.forgetBefore).toHaveBeenCalledTimes(2);
    expect(counters.forgetAddressesBefore).not.toHaveBeenCalled();
  });

  it('removes addresses from the database that the memory has forgotten', async () => {
    for (let host = 0; host <= MAX_ADDRESSES; host++) take(addressRateLimitKey(`10.0.${host}`));
    const minute = minuteOf(clock.now());
    await start();
    await pass(60_000);
    expect(counters.forgetAddressesBefore).toHaveBeenCalledWith(minute, expect.any(AbortSignal));
  });
});
