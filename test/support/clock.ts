import { Clock } from '../../src/time/clock.js';

/** A clock that stands still until it is moved. It starts in the middle of a minute, at noon. */
export class FakeClock extends Clock {
  constructor(private nowMs = Date.parse('2026-06-15T12:00:30.000Z')) {
    super();
  }

  now(): number {
    return this.nowMs;
  }

  advance(ms: number): void {
    this.nowMs += ms;
  }

  set(iso: string): void {
    this.nowMs = Date.parse(iso);
  }
}
