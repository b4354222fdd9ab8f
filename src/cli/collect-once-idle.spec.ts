import { performance } from 'node:perf_hooks';
import { collectOnceIdle } from './collect-once-idle.js';

describe(collectOnceIdle.name, () => {
  const logger = { debug: jest.fn() };
  const collect = jest.fn();
  const never = new Promise<void>(() => {});
  let busyMs: number;

  beforeEach(() => {
    logger.debug.mockReset();
    collect.mockReset().mockResolvedValue(undefined);
    let active = 0;
    let idle = 0;
    busyMs = 0;
    jest.spyOn(performance, 'eventLoopUtilization').mockImplementation((now, before) => {
      if (now !== undefined && before !== undefined) {
        const spent = [now.active - before.active, now.idle - before.idle] as const;
        return { active: spent[0], idle: spent[1], utilization: spent[0] / (spent[0] + spent[1]) };
      }
      [active, idle] = [active + busyMs, idle + 1_000 - busyMs];
      return { active, idle, utilization: active / (active + idle) };
    });
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('collects once, as soon as the process was idle for a second', async () => {
    collectOnceIdle(logger, never, collect);
    busyMs = 200;
    await jest.advanceTimersByTimeAsync(5_000);
    expect(collect).not.toHaveBeenCalled();
    busyMs = 20;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(collect).toHaveBeenCalledTimes(1);
    const told = expect.objectContaining({ residentBytes: expect.any(Number) as number }) as object;
    expect(logger.debug).toHaveBeenCalledWith(told, 'The heap is tidied');
    await jest.advanceTimersByTimeAsync(60_000);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('collects nothing once the process stops, however idle', async () => {
    let halt!: () => void;
    const stop = new Promise<void>((resolve) => (halt = resolve));
    collectOnceIdle(logger, stop, collect);
    busyMs = 200;
    await jest.advanceTimersByTimeAsync(3_000);
    halt();
    busyMs = 0;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(collect).not.toHaveBeenCalled();
  });

  it('goes on where nothing can be collected', async () => {
    const err = new Error('no inspector');
    collect.mockRejectedValue(err);
    collectOnceIdle(logger, never, collect);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(logger.debug.mock.calls).toEqual([[{ err }, expect.stringContaining('cannot be')]]);
  });
});

describe('what is collected', () => {
  it('is what nobody holds any more', async () => {
    const left = new WeakRef({ any: 'thing' });
    await new Promise((resume) => setImmediate(resume));
    await new Promise<void>((resolve) => {
      const debug = (): void => resolve();
      collectOnceIdle({ debug }, new Promise(() => {}));
    });
    expect(left.deref()).toBeUndefined();
  });
});
