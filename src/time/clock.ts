/** The one source of time, so that tests can move it. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;

  /** Milliseconds since some moment, whatever the time of day is set to; by default those of the process. */
  elapsed?(): number;
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}

/** What the machine's two clocks may differ by from reading to reading. */
const TOLERATED_MS = 50;

/**
 * The time of day for whoever was told how long to wait: where the machine's clock is set back, it goes on as if that
 * had not been, so that nobody waits longer than was said. How far it is ahead since then it tells, for whatever is
 * to be told by the machine's clock.
 */
export class SteadyClock extends Clock {
  private ahead = 0;
  private lastMs: number;
  private lastElapsedMs: number;

  constructor(private readonly clock: Clock) {
    super();
    this.lastMs = clock.now();
    this.lastElapsedMs = this.elapsed();
  }

  now(): number {
    const elapsedMs = this.elapsed();
    const wallMs = this.clock.now();
    const stepMs = wallMs + this.ahead - (this.lastMs + elapsedMs - this.lastElapsedMs);
    // Forward it is followed, but for what it was ahead already.
    if (stepMs < -TOLERATED_MS || (stepMs > TOLERATED_MS && this.ahead > 0)) {
      this.ahead = Math.max(0, Math.round(this.ahead - stepMs));
    }
    this.lastMs = Math.max(this.lastMs, wallMs + this.ahead);
    this.lastElapsedMs = elapsedMs;
    return this.lastMs;
  }

  override elapsed(): number {
    return this.clock.elapsed?.() ?? performance.now();
  }

  /** How much later it is by this clock than by that of the machine: milliseconds. */
  get aheadMs(): number {
    return this.ahead;
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

/** Something that was seen, and counts for a while. */
export class Sighting {
  /** From when it counts; undefined before. */
  protected current: Stopwatch | undefined;

  constructor(private readonly countsForMs: number) {}

  /** Whether what was seen still counts. */
  get isCurrent(): boolean {
    return this.current !== undefined && this.current.elapsedMs < this.countsForMs;
  }
}
