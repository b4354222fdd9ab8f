import { Clock } from '../../src/time/clock.js';

/** A clock that only moves when it is advanced. It starts in the middle of a minute, at noon. */
export class FakeClock extends Clock {
  private elapsedMs = 0;

  constructor(private nowMs = Date.parse('2026-06-15T12:00:30.000Z')) {
    super();
  }

  override now(): number {
    return this.nowMs;
  }

  override elapsed(): number {
    return this.elapsedMs;
  }

  /** @param ms if negative, the clock is set back and no time passes */
  advance(ms: number): void {
    this.nowMs += ms;
    this.elapsedMs += Math.max(0, ms);
  }

  set(iso: string): void {
    this.advance(Date.parse(iso) - this.nowMs);
  }
}
