import { FakeClock } from '../../../test/support/clock.js';
import { NO_FAULTS } from '../../../test/support/no-faults.js';
import type { Logger } from '../telemetry/logger.js';
import { BackgroundTasks } from './background-tasks.js';
import type { Database } from './database.js';
import { ChangePoller } from './change-poller.js';

describe(ChangePoller.name, () => {
  const logger = { warn: jest.fn(), info: jest.fn() };
  let background: BackgroundTasks;
  let clock: FakeClock;
  let databaseNowMs: number;
  let away: boolean;
  let poller: ChangePoller;
  beforeEach(() => {
    jest.useFakeTimers();
    jest.clearAllMocks();
    clock = new FakeClock();
    databaseNowMs = 1_000_000_000;
    away = false;
    const poll = () =>
      away ? Promise.reject(new Error('gone')) : Promise.resolve([{ nowMs: databaseNowMs }]);
    background = new BackgroundTasks(logger as unknown as Logger, NO_FAULTS);
    poller = new ChangePoller({ poll } as unknown as Database, clock, background);
  });
  afterEach(() => {
    void background.beforeApplicationShutdown();
    jest.useRealTimers();
  });

  async function start(): Promise<void> {
    background.onApplicationBootstrap();
    await poller.onApplicationBootstrap();
  }

  /** Time goes on for this process and for the database. */
  async function pass(ms: number): Promise<void> {
    databaseNowMs += ms;
    await jest.advanceTimersByTimeAsync(ms);
  }

  it('looks three times a second: a change is in force well within one', async () => {
    const look = jest.fn(() => Promise.resolve());
    poller.subscribe(look);
    await start();
    expect(look).toHaveBeenCalledTimes(1);
    await pass(950);
    expect(look).toHaveBeenCalledTimes(4);
  });

  it('loads everything first, then changes since the last poll, including late commits', async () => {
    const look = jest.fn<Promise<void>, [number | undefined]>(() => Promise.resolve());
    poller.subscribe(look);
    await start();
    const first = databaseNowMs;
    await pass(300);
    expect(look.mock.calls).toEqual([[undefined], [first - 10_000]]);
  });

  it('looks an hour back once a minute, for a commit that hung', async () => {
    const look = jest.fn<Promise<void>, [number | undefined]>(() => Promise.resolve());
    poller.subscribe(look);
    await start();
    await pass(60_000);
    const long = look.mock.calls.filter(([sinceMs]) => sinceMs! <= databaseNowMs - 3_600_000);
    expect(long).toHaveLength(1);
  });

  it.each([
    ['stood still', 0],
    ['stood still, and the clock of the database was set back', -3_600_000],
    ['stood still, and the clock of the database was set forward', 3_600_000],
  ])('misses nothing of the time that the process %s', async (_what, setMs) => {
    const look = jest.fn<Promise<void>, [number | undefined]>(() => Promise.resolve());
    poller.subscribe(look);
    await start();
    const seen = databaseNowMs;
    databaseNowMs += 60_000 + setMs;
    clock.advance(60_300);
    await pass(300);
    const expected = Math.min(seen, seen + setMs) - 10_000;
    expect(look.mock.lastCall![0]).toBeLessThanOrEqual(expected);
    expect(look.mock.lastCall![0]).toBeGreaterThan(expected - 1_000);
  });

  it('loads changes again after a failed poll', async () => {
    const look = jest.fn<Promise<void>, [number | undefined]>(() => Promise.resolve());
    poller.subscribe(look);
    await start();
    const seen = databaseNowMs;
    away = true;
    await pass(20_000);
    away = false;
    await pass(300);
    expect(look).toHaveBeenCalledTimes(2);
    expect(look.mock.lastCall![0]).toBeLessThanOrEqual(seen - 10_000);
  });

  it('is current for less than a second after a poll', async () => {
    poller.subscribe(() => Promise.resolve());
    expect(poller.isCurrent).toBe(false);
    await start();
    expect(poller.isCurrent).toBe(true);
    away = true;
    await pass(800);
    expect(poller.isCurrent).toBe(true);
    await pass(100);
    expect(poller.isCurrent).toBe(false);
    away = false;
    await pass(300);
    expect(poller.isCurrent).toBe(true);
  });

  it('vouches for nothing the moment that a process goes on which stood still', async () => {
    poller.subscribe(() => Promise.resolve());
    await start();
    clock.advance(1_000);
    expect(poller.isCurrent).toBe(false);
    expect(poller.staleForMs).toBe(1_000);
    await pass(300);
    expect(poller.isCurrent).toBe(true);
  });

  it('is not current while a callback fails', async () => {
    let callback: () => Promise<void> = () => Promise.resolve();
    poller.subscribe(() => callback());
    await start();
    callback = () => Promise.reject(new Error('locked'));
    await pass(1_000);
    expect(poller.isCurrent).toBe(false);
    callback = () => Promise.resolve();
    await pass(300);
    expect(poller.isCurrent).toBe(true);
  });

  it('says once that the database cannot be read, and that it can again', async () => {
    poller.subscribe(() => Promise.resolve());
    await start();
    away = true;
    await pass(3_000);
    expect(logger.warn).toHaveBeenCalledTimes(1);
    away = false;
    await pass(300);
    expect(logger.info).toHaveBeenCalledTimes(1);
  });

  it('does not look before the last look is over, nor after the end', async () => {
    const look = jest.fn(() => new Promise<void>(() => undefined));
    poller.subscribe(look);
    void start();
    await pass(5_000);
    expect(look).toHaveBeenCalledTimes(1);
    void background.beforeApplicationShutdown();
    await pass(5_000);
    expect(look).toHaveBeenCalledTimes(1);
  });

  it('sends no statement if nothing subscribes', async () => {
    away = true;
    await start();
    await pass(1_000);
    expect(logger.warn).not.toHaveBeenCalled();
  });
});
