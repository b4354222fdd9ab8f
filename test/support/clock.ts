import { Clock } from '../../src/core/time/clock.js';

/** A clock that only moves when it is advanced. It starts in the middle of a minute, at noon. */
export class FakeClock extends Clock {
  constructor(private nowMs = Date.parse('2026-06-15T12:00:30.000Z')) {
    super();
  }

  override now(): number {
    return this.nowMs;
  }

  /** @param ms if negative, the clock is set back */
  advance(ms: number): void {
    this.nowMs += ms;
  }

  set(iso: string): void {
    this.advance(Date.parse(iso) - this.nowMs);
  }
}
