import { dayEndUnix, minuteEndUnix, secondsUntil } from '../time/windows.js';
import type { Limits } from './limits.js';
import type { Decision } from './stores/rate-limit-store.js';

/** The content of the headers: one window for `X-RateLimit-*`, both for `RateLimit`. */
export interface QuotaReport {
  limit: number;
  remaining: number;
  /** Unix seconds. */
  resetUnix: number;
  /** draft-ietf-httpapi-ratelimit-headers: remaining `r`, and `t` in seconds from now. */
  rateLimit: string;
  /** How long a rejected client has to wait: whole seconds, at least 1. */
  retryAfterSeconds: number;
}

/**
 * Describes the window with the fewest requests left; on a tie the one that resets later, the day.
 * During a ban, both windows state its end.
 */
export function reportQuota({ perMinute, perDay }: Limits, decision: Decision): QuotaReport {
  const { nowMs, minuteUsed, dayUsed, bannedUntilMs } = decision;
  const banEnd = bannedUntilMs > nowMs ? bannedUntilMs / 1000 : undefined;
  const minuteLeft = banEnd === undefined ? Math.max(0, perMinute - minuteUsed) : 0;
  const dayLeft = banEnd === undefined ? Math.max(0, perDay - dayUsed) : 0;
  const minuteReset = banEnd ?? minuteEndUnix(decision.minute);
  const dayReset = banEnd ?? dayEndUnix(decision.day);
  const byMinute = minuteLeft < dayLeft;
  const resetUnix = byMinute ? minuteReset : dayReset;
  return {
    limit: byMinute ? perMinute : perDay,
    remaining: byMinute ? minuteLeft : dayLeft,
    resetUnix: Math.ceil(resetUnix),
    rateLimit:
      `"minute";r=${minuteLeft};t=${secondsUntil(minuteReset, nowMs)},` +
      `"day";r=${dayLeft};t=${secondsUntil(dayReset, nowMs)}`,
    retryAfterSeconds: secondsUntil(resetUnix, nowMs),
  };
}
