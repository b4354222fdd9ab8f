/** The only source of time, so that tests can move it. */
export class Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number {
    return Date.now();
  }
}

/**
 * Measures time that includes a suspension of the process or the machine. A monotonic clock stands
 * still while a machine is suspended, and the wall clock may be set back: the longer of the two
 * counts.
 */
export class Stopwatch {
  private readonly startedMonotonicMs = performance.now();
  private readonly startedMs: number;

  constructor(private readonly clock: Clock) {
    this.startedMs = clock.now();
  }

  get elapsedMs(): number {
    return Math.max(performance.now() - this.startedMonotonicMs, this.clock.now() - this.startedMs);
  }
}
