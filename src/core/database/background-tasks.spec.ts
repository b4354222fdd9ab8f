import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../telemetry/logger.js';
import { BackgroundTasks } from './background-tasks.js';
import type { DatabaseFaults } from './database-faults.js';

const INTERVAL_MS = 500;

describe(BackgroundTasks.name, () => {
  const logger = { error: jest.fn(), warn: jest.fn(), info: jest.fn() };
  const faults = { report: jest.fn() };
  let background: BackgroundTasks;
  let pending: string[];
  let written: string[];
  let failure: Error | undefined;
  let stop: AbortSignal;

  beforeEach(() => {
    jest.resetAllMocks();
    jest.useFakeTimers();
    [pending, written, failure] = [[], [], undefined];
    background = new BackgroundTasks(
      logger as unknown as Logger,
      faults as unknown as DatabaseFaults,
    );
  });
  afterEach(() => jest.useRealTimers());

  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
  /** A write takes 100 ms. */
  const add = () =>
    background.add({
      task: 'save counters',
      intervalMs: INTERVAL_MS,
      run: async (signal) => {
        stop = signal;
        const items = pending.splice(0);
        await new Promise((resume) => setTimeout(resume, 100));
        if (failure) pending.unshift(...items);
        if (failure) throw failure;
        written.push(...items);
      },
    });

  it('writes outside of the context of the request that starts a run', async () => {
    const context = new AsyncLocalStorage<string>();
    const run = jest.fn(() => Promise.resolve(context.getStore()) as unknown as Promise<void>);
    const flush = background.add({ task: 'save bans', intervalMs: INTERVAL_MS, run });
    await context.run('a request', flush);
    await expect(run.mock.results[0]!.value).resolves.toBeUndefined();
  });

  it('writes at each interval what is pending', async () => {
    add();
    background.onApplicationBootstrap();
    pending.push('first');
    await pass(INTERVAL_MS + 100);
    expect(written).toEqual(['first']);
    pending.push('second');
    await pass(INTERVAL_MS);
    expect(written).toEqual(['first', 'second']);
    expect(stop.aborted).toBe(false);
  });

  it('runs a task once at a time', async () => {
    const flush = add();
    pending.push('first');
    const [run, again] = [flush(), flush()];
    expect(again).toBe(run);
    await pass(100);
    await run;
    expect(flush()).not.toBe(run);
    await pass(100);
  });

  it('retries what could not be written, and logs the begin and the end of a failure', async () => {
    add();
    background.onApplicationBootstrap();
    failure = new Error('database is down');
    pending.push('first');
    await pass(3 * INTERVAL_MS - 100);
    expect(pending).toEqual(['first']);
    expect(logger.warn.mock.calls).toEqual([[{ err: failure }, 'Cannot save counters; retrying']]);
    failure = undefined;
    await pass(3 * INTERVAL_MS);
    expect(written).toEqual(['first']);
    expect(logger.info.mock.calls).toEqual([[{}, 'Can save counters again']]);
    expect(logger.warn).toHaveBeenCalledTimes(1);
  });

  it('writes at the shutdown what became pending during a run, and nothing after it', async () => {
    const flush = add();
    background.onApplicationBootstrap();
    pending.push('first');
    void flush();
    pending.push('second');
    const stopped = background.beforeApplicationShutdown();
    expect(stop.aborted).toBe(true);
    await pass(200);
    await stopped;
    expect(written).toEqual(['first', 'second']);
    pending.push('late');
    await pass(10 * INTERVAL_MS);
    expect(pending).toEqual(['late']);
    expect(logger.error).not.toHaveBeenCalled();
  });

  it('reports what could not be written, to readiness at each attempt, and at the shutdown', async () => {
    add();
    background.onApplicationBootstrap();
    failure = new Error('the disk is full');
    pending.push('first');
    await pass(3 * INTERVAL_MS - 100);
    expect(logger.warn).toHaveBeenCalledTimes(1);
    expect(faults.report.mock.calls).toEqual([[failure], [failure]]);
    const stopped = background.beforeApplicationShutdown();
    await pass(300);
    await stopped;
    expect(logger.error.mock.calls).toEqual([[{}, 'Could not save counters at shutdown']]);
  });
});
