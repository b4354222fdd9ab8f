import type { Ban } from '../bans/bans.js';
import type { FurtherLimit, Limits } from '../limits.js';

/** Where requests are counted, with the name in metrics and readiness. */
export const STORE_MODES = { local: 'memory', shared: 'redis', fallback: 'fallback' } as const;
export type StoreMode = keyof typeof STORE_MODES;

/** The result of one request. Counts are those after the request. */
export interface Decision {
  admitted: boolean;
  /** The store's clock in Unix milliseconds. Every reset is relative to it. */
  nowMs: number;
  /** The windows in which the request was counted. */
  minute: number;
  minuteUsed: number;
  day: number;
  dayUsed: number;
  /** End of the subject's ban in Unix milliseconds, 0 if it is not banned. */
  bannedUntilMs: number;
  /** The ban that started with this request. */
  newBan?: Ban | undefined;
  /**
   * When the further limit has room again, in Unix milliseconds; 0 or left out if it has room now.
   */
  furtherFullUntilMs?: number;
}

/**
 * Counts the requests of subjects in two windows. A request is admitted only if both windows have
 * room, and then counts in both; a rejected one counts in neither. Of any number of simultaneous
 * requests, exactly the limit is admitted. A further limit is evaluated together with the windows.
 */
export abstract class RateLimitStore {
  /** Checks and counts one request. Stores in this process return the decision itself. */
  abstract take(
    subject: string,
    limits: Limits,
    further?: FurtherLimit,
  ): Decision | Promise<Decision>;

  /** The current counts, without counting a request. */
  abstract peek(subject: string): Decision | Promise<Decision>;

  /** The current mode. */
  abstract readonly mode: StoreMode;
}
