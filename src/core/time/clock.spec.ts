import { FakeClock } from '../../../test/support/clock.js';
import { Stopwatch } from './clock.js';

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
