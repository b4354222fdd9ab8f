import { FakeClock } from '../../test/support/clock.js';
import { SteadyClock, Stopwatch } from './clock.js';

describe(Stopwatch.name, () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('counts the time that a machine was suspended for, of which a monotonic clock knows nothing', () => {
    const clock = new FakeClock();
    const stopwatch = new Stopwatch(clock);
    clock.advance(60_000);
    expect(stopwatch.elapsedMs).toBe(60_000);
  });

  it('goes on while the clock is set back', () => {
    const clock = new FakeClock();
    const stopwatch = new Stopwatch(clock);
    jest.advanceTimersByTime(2_000);
    clock.advance(-3_600_000);
    expect(stopwatch.elapsedMs).toBe(2_000);
  });
});

describe(SteadyClock.name, () => {
  const started = new FakeClock().now();

  it('is the clock of the machine while that goes forward, however far at once', () => {
    const clock = new FakeClock();
    const steady = new SteadyClock(clock);
    for (const ms of [0, 1, 86_400_000]) {
      clock.advance(ms);
      expect([steady.now(), steady.aheadMs]).toEqual([clock.now(), 0]);
    }
  });

  it.each([-1_000, -3_600_000])('goes on when that is set back by %d ms', (back) => {
    const clock = new FakeClock();
    const steady = new SteadyClock(clock);
    clock.advance(back);
    clock.advance(30_000);
    expect([steady.now(), steady.aheadMs]).toEqual([started + 30_000, -back]);
    clock.advance(30_000);
    expect(steady.now()).toBe(started + 60_000);
  });

  it('is ahead no more when that is set forward again', () => {
    const clock = new FakeClock();
    const steady = new SteadyClock(clock);
    clock.advance(-60_000);
    expect([steady.now(), steady.aheadMs]).toEqual([started, 60_000]);
    clock.elapsed = () => 0;
    clock.advance(60_000);
    expect([steady.now(), steady.aheadMs]).toEqual([started, 0]);
  });

  it('goes by the time of the process where a clock tells of none', () => {
    jest.useFakeTimers();
    let backMs = 0;
    const steady = new SteadyClock({ now: () => Date.now() - backMs });
    const before = steady.now();
    backMs = 3_600_000;
    jest.advanceTimersByTime(2_000);
    expect([steady.now(), steady.aheadMs]).toEqual([before + 2_000, 3_600_000]);
    jest.useRealTimers();
  });
});
