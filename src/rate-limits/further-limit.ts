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

/** Counts of further limits in this process. A window never gives way to an earlier one. */
export class FurtherCounts {
  private readonly counts = new LRUCache<string, { window: number; used: number }>({
    max: 100_000,
  });

  /** The count in the window of `nowMs`, which the caller may raise, and when the limit has room again (0: now). */
  at(subject: RateLimitKey, { operation, limit, ttlMs }: FurtherLimit, nowMs: number) {
    const name = `${operation} ${subject}`;
    const window = Math.floor(nowMs / ttlMs);
    const known = this.counts.get(name);
    const count = known && known.window >= window ? known : { window, used: 0 };
    if (count !== known) this.counts.set(name, count);
    return { count, fullUntilMs: count.used < limit ? 0 : (count.window + 1) * ttlMs };
  }
}
