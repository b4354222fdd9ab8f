/** The only source of time, so that tests can move it. */
export class Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number {
    return Date.now();
  }

  /** Monotonic milliseconds. */
  elapsed(): number {
    return performance.now();
  }
}

/** Normal difference of the two clocks between two readings. */
const TOLERATED_MS = 50;

/**
 * A clock that never goes back, so that every `Retry-After` stays true. If the machine's clock is
 * set back, this one runs ahead of it by `aheadMs`; if it is set forward again, this one follows.
 */
export class SteadyClock extends Clock {
  /** How far this clock is ahead of the machine's, in milliseconds. */
  aheadMs = 0;
  private lastMs: number;
  private lastElapsedMs: number;

  constructor(private readonly clock: Clock) {
    super();
    this.lastMs = clock.now();
    this.lastElapsedMs = clock.elapsed();
  }

  override now(): number {
    const elapsedMs = this.clock.elapsed();
    const wallMs = this.clock.now();
    const stepMs = wallMs + this.aheadMs - (this.lastMs + elapsedMs - this.lastElapsedMs);
    if (stepMs < -TOLERATED_MS || (stepMs > TOLERATED_MS && this.aheadMs > 0)) {
      this.aheadMs = Math.max(0, Math.round(this.aheadMs - stepMs));
    }
    this.lastMs = Math.max(this.lastMs, wallMs + this.aheadMs);
    this.lastElapsedMs = elapsedMs;
    return this.lastMs;
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
