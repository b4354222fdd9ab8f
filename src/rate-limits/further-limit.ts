import type { Subject } from './subject.js';

/** A limit of one operation for each caller, beside the plan's: what `@Throttle()` says. */
export interface FurtherLimit {
  /** The same on every node. */
  operation: string;
  limit: number;
  /** Windows of this length, aligned to Unix time. */
  ttlMs: number;
}

/** What one caller has used of a further limit, in the window of that number. */
export interface FurtherCount {
  window: number;
  used: number;
}

/** Far more callers than use one operation within one window; the longest known go first. */
const CAPACITY = 100_000;

/** The counts of further limits in this process. A window never gives way to an earlier one. */
export class FurtherCounts {
  private readonly counts = new Map<string, FurtherCount>();

  /** The count in the window of `nowMs`; it may be changed in place. */
  at(subject: Subject, { operation, ttlMs }: FurtherLimit, nowMs: number): FurtherCount {
    const name = `${operation} ${subject}`;
    const window = Math.floor(nowMs / ttlMs);
    let count = this.counts.get(name);
    if (count === undefined) {
      if (this.counts.size >= CAPACITY) this.makeRoom();
      count = { window, used: 0 };
      this.counts.set(name, count);
    } else if (window > count.window) {
      count.window = window;
      count.used = 0;
    }
    return count;
  }

  /** A part at once: one at a time, every newcomer would pay for it. */
  private makeRoom(): void {
    let wanted = CAPACITY / 16;
    for (const name of this.counts.keys()) {
      if (wanted-- === 0) return;
      this.counts.delete(name);
    }
  }
}

/** Until when a limit is used up: Unix milliseconds, 0 where it is not. */
export function fullUntilMs(
  { limit, ttlMs }: FurtherLimit,
  { window, used }: FurtherCount,
): number {
  return used < limit ? 0 : (window + 1) * ttlMs;
}
