import type { QuotaStoreMode } from '../../telemetry/metrics.js';
import type { Ban } from '../bans/bans.js';
import type { FurtherLimit } from '../further-limit.js';
import type { Limits } from '../limits.js';

/** What became of one request. Counts are those after it. */
export interface Decision {
  admitted: boolean;
  /** The store's clock: Unix milliseconds. Every reset is told by it. */
  nowMs: number;
  /** How much later that is than by the machine's clock, which was set back; left out or 0 where it was not. */
  aheadMs?: number;
  /** The windows that it was counted in: never earlier than one that was counted in before. */
  minute: number;
  minuteUsed: number;
  day: number;
  dayUsed: number;
  /** Until when the subject is banned: Unix milliseconds, 0 where it is not. */
  bannedUntilMs: number;
  /** The ban that the subject is under, where this node has not heard of it before. */
  newBan?: Ban;
  /** Whether this is the refusal that led to the ban; left out where it is not. */
  beganBan?: boolean;
  /** Until when the further limit is used up: Unix milliseconds; left out or 0 where it is not. */
  furtherFullUntilMs?: number;
}

/**
 * Counts requests of subjects in the two windows, together: a request is admitted only if both have
 * room, and then both count it; a refused one consumes neither. Of any number of simultaneous requests
 * exactly the limit is admitted. A further limit is judged with them: all have room, or none is taken from.
 */
export abstract class RateLimitStore {
  /** Judges and counts one request. Synchronous where the counters are in this process. */
  abstract take(
    subject: string,
    limits: Limits,
    further?: FurtherLimit,
  ): Decision | Promise<Decision>;

  /** The counts as they are, without a request. */
  abstract peek(subject: string): Decision | Promise<Decision>;

  /** Ends a ban and forgets the refusals that led to it. */
  abstract unban(subject: string): void | Promise<void>;

  /** Where requests are counted at this moment. */
  abstract readonly mode: QuotaStoreMode;
}
