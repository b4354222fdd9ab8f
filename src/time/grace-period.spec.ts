import { beginGracePeriod, LINGER_MS } from './grace-period.js';

describe(beginGracePeriod.name, () => {
  it.each([1, 3, 10, 3_600])(
    'leaves of %d s some for each step, and for the end itself',
    (seconds) => {
      const nowMs = 5_000;
      const clock = jest.spyOn(performance, 'now').mockReturnValue(nowMs);
      const { drainUntilMs, workerClosesUntilMs, workerEndsUntilMs, closeUntilMs } =
        beginGracePeriod(seconds);
      clock.mockRestore();
      const steps = [drainUntilMs, workerClosesUntilMs, workerEndsUntilMs, closeUntilMs];
      expect(steps).toEqual([...new Set(steps)].sort((one, other) => one - other));
      expect(drainUntilMs - nowMs).toBeGreaterThan(500 * seconds);
      expect(closeUntilMs + LINGER_MS).toBeLessThan(nowMs + 1_000 * seconds);
    },
  );
});
