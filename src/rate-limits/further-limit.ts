import { LRUCache } from 'lru-cache';
import type { RateLimitKey } from './rate-limit-key.js';

/** A limit of one operation for each caller, in addition to the plan's limits, from `@Throttle()`. */
export interface FurtherLimit {
  /** The same on every node. */
  operation: string;
  limit: number;
  /** Length of its windows, which are aligned to Unix time. */
  ttlMs: number;
}

interface FurtherCount {
  window: number;
  used: number;
}

/** Counts of further limits in this process. A window never gives way to an earlier one. */
export class FurtherCounts {
  private readonly counts = new LRUCache<string, FurtherCount>({ max: 100_000 });

  /** The count in the window of `nowMs`. The caller may change it. */
  at(subject: RateLimitKey, { operation, ttlMs }: FurtherLimit, nowMs: number): FurtherCount {
    const name = `${operation} ${subject}`;
    const window = Math.floor(nowMs / ttlMs);
    const known = this.counts.get(name);
    if (known !== undefined && known.window >= window) return known;
    const count = { window, used: 0 };
    this.counts.set(name, count);
    return count;
  }
}

/** When the limit has room again, in Unix milliseconds; 0 if it has room now. */
export function fullUntilMs(
  { limit, ttlMs }: FurtherLimit,
  { window, used }: FurtherCount,
): number {
  return used < limit ? 0 : (window + 1) * ttlMs;
}
