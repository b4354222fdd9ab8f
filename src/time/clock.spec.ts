import { FakeClock } from '../../test/support/clock.js';
import { SteadyClock, Stopwatch } from './clock.js';

describe(Stopwatch.name, () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('includes a suspension of the machine, during which a monotonic clock stands still', () => {
    const clock = new FakeClock();
    const stopwatch = new Stopwatch(clock);
    clock.advance(60_000);
    expect(stopwatch.elapsedMs).toBe(60_000);
  });

  it('continues while the clock is set back', () => {
    const clock = new FakeClock();
    const stopwatch = new Stopwatch(clock);
    jest.advanceTimersByTime(2_000);
    clock.advance(-3_600_000);
    expect(stopwatch.elapsedMs).toBe(2_000);
  });
});

describe(SteadyClock.name, () => {
  const started = new FakeClock().now();

  it('follows the machine’s clock forward, by any distance', () => {
    const clock = new FakeClock();
    const steady = new SteadyClock(clock);
    for (const ms of [0, 1, 86_400_000]) {
      clock.advance(ms);
      expect([steady.now(), steady.aheadMs]).toEqual([clock.now(), 0]);
    }
  });

  it.each([-1_000, -3_600_000])(
    'continues after the machine’s clock is set back by %d ms',
    (back) => {
      const clock = new FakeClock();
      const steady = new SteadyClock(clock);
      clock.advance(back);
      clock.advance(30_000);
      expect([steady.now(), steady.aheadMs]).toEqual([started + 30_000, -back]);
    },
  );

  it('is no longer ahead after the machine’s clock is set forward again', () => {
    const clock = new FakeClock();
    const steady = new SteadyClock(clock);
    clock.advance(-60_000);
    expect([steady.now(), steady.aheadMs]).toEqual([started, 60_000]);
    clock.elapsed = () => 0;
    clock.advance(60_000);
    expect([steady.now(), steady.aheadMs]).toEqual([started, 0]);
  });
});
