import type { Ban } from '../bans/bans.js';
import type { Limits } from '../limits.js';

/** Where requests are counted, with the name in metrics and readiness. */
export const STORE_MODES = { local: 'memory', shared: 'redis', fallback: 'fallback' } as const;
type StoreMode = keyof typeof STORE_MODES;

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
  /** End of the client's ban in Unix milliseconds, 0 if it is not banned. */
  bannedUntilMs: number;
  /** The ban that started with this request. */
  newBan?: Ban | undefined;
}

/** The current window of `RateLimitStore.count()`. */
export interface WindowCount {
  /** Requests in the window, this one included. */
  used: number;
  endsInMs: number;
}

/**
 * Counts the requests of a rate-limit key in two windows. A request is admitted only if both
 * windows have room, and then counts in both; a rejected one counts in neither. Of any number of
 * simultaneous requests, exactly the limit is admitted.
 */
export abstract class RateLimitStore {
  /** Checks and counts one request. Stores in this process return the decision itself. */
  abstract take(key: string, limits: Limits): Decision | Promise<Decision>;

  /** The current counts, without counting a request. */
  abstract peek(key: string): Decision | Promise<Decision>;

  /**
   * Counts one request in the windows of another length, for `@Throttle()`. They are aligned to
   * Unix time. Simultaneous requests get different counts.
   * @param key not a key of `take()`
   */
  abstract count(key: string, windowMs: number): WindowCount | Promise<WindowCount>;

  /** The current mode. */
  abstract readonly mode: StoreMode;
}
