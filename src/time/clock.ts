/** The one source of time, so that tests can move it. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}

/**
 * Time that has passed, that of a process or a machine that stood still included: what a monotonic clock
 * tells does not go on while a machine is suspended, and what the wall's tells may be set back. Of the
 * two it is the longer.
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
