import type { CounterStoreMode } from '../telemetry/metrics.js';
import type { Limits } from './limits.js';

/** What became of one request. Counts are those after it. */
export interface Decision {
  admitted: boolean;
  /** The store's clock: Unix milliseconds. Every reset is told by it. */
  nowMs: number;
  minuteUsed: number;
  dayUsed: number;
  /** Until when the subject is banned: Unix milliseconds, 0 where it is not. */
  bannedUntilMs: number;
}

/**
 * Counts requests of subjects in the two windows, together: a request is admitted only if both have
 * room, and then both count it; a refused one consumes neither. Of any number of simultaneous requests
 * exactly the limit is admitted.
 */
export abstract class RateLimitStore {
  /** Judges and counts one request. Synchronous where the counters are in this process. */
  abstract take(subject: string, limits: Limits): Decision | Promise<Decision>;

  /** The counts as they are, without a request. */
  abstract peek(subject: string): Decision | Promise<Decision>;

  /** Ends a ban and forgets the refusals that led to it. */
  abstract unban(subject: string): void | Promise<void>;

  /** Where requests are counted at this moment. */
  abstract readonly mode: CounterStoreMode;
}
