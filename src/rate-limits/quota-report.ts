import { dayEndUnix, minuteEndUnix, secondsUntil } from '../time/windows.js';
import type { Limits } from './limits.js';
import type { Decision } from './stores/rate-limit-store.js';

/** The content of the headers: one window for `X-RateLimit-*`, both for `RateLimit`. */
export interface QuotaReport {
  limit: number;
  remaining: number;
  /** Unix seconds by the machine's clock. */
  resetUnix: number;
  /** draft-ietf-httpapi-ratelimit-headers: remaining `r`, and `t` in seconds from now. */
  rateLimit: string;
  /** How long a refused client has to wait: whole seconds, at least 1. */
  retryAfterSeconds: number;
}

/** Describes the window with the fewest requests left; on a tie the one that resets later, the day. */
export function reportQuota(limits: Limits, decision: Decision): QuotaReport {
  const { nowMs, aheadMs = 0, bannedUntilMs } = decision;
  const minuteLeft = Math.max(0, limits.perMinute - decision.minuteUsed);
  const dayLeft = Math.max(0, limits.perDay - decision.dayUsed);
  const byMinute = minuteLeft < dayLeft;
  if (bannedUntilMs > nowMs) {
    // Both windows state the end of the ban: a client that reads either of them waits long enough.
    const seconds = secondsUntil(bannedUntilMs / 1000, nowMs);
    return {
      limit: byMinute ? limits.perMinute : limits.perDay,
      remaining: 0,
      resetUnix: Math.ceil((bannedUntilMs - aheadMs) / 1000),
      rateLimit: `"minute";r=0;t=${seconds},"day";r=0;t=${seconds}`,
      retryAfterSeconds: seconds,
    };
  }
  const minuteReset = minuteEndUnix(decision.minute);
  const dayReset = dayEndUnix(decision.day);
  const resetUnix = byMinute ? minuteReset : dayReset;
  return {
    limit: byMinute ? limits.perMinute : limits.perDay,
    remaining: byMinute ? minuteLeft : dayLeft,
    resetUnix: Math.ceil(resetUnix - aheadMs / 1000),
    rateLimit:
      `"minute";r=${minuteLeft};t=${secondsUntil(minuteReset, nowMs)},` +
      `"day";r=${dayLeft};t=${secondsUntil(dayReset, nowMs)}`,
    retryAfterSeconds: secondsUntil(resetUnix, nowMs),
  };
}
