import type { Limits } from './limits.js';
import type { Decision } from './rate-limit-store.js';
import { dayResetUnix, minuteResetUnix, secondsUntil } from './windows.js';

/** The one window that `X-RateLimit-*` speaks of, and both for `RateLimit`. */
export interface QuotaReport {
  limit: number;
  remaining: number;
  /** Unix seconds. */
  resetUnix: number;
  /** draft-ietf-httpapi-ratelimit-headers: remaining `r`, and `t` in seconds from now. */
  rateLimit: string;
  /** How long a refused client has to wait: whole seconds, at least 1. */
  retryAfterSeconds: number;
}

/** Of the two windows the one with the fewest requests left; on a tie the one that resets later, the day. */
export function reportQuota(limits: Limits, decision: Decision): QuotaReport {
  const { nowMs, bannedUntilMs } = decision;
  const minuteLeft = Math.max(0, limits.perMinute - decision.minuteUsed);
  const dayLeft = Math.max(0, limits.perDay - decision.dayUsed);
  const minuteReset = minuteResetUnix(nowMs);
  const dayReset = dayResetUnix(nowMs);
  const byMinute = minuteLeft < dayLeft;
  const banned = bannedUntilMs > nowMs;
  const resetUnix = banned ? Math.ceil(bannedUntilMs / 1000) : byMinute ? minuteReset : dayReset;
  return {
    limit: byMinute ? limits.perMinute : limits.perDay,
    remaining: banned ? 0 : byMinute ? minuteLeft : dayLeft,
    resetUnix,
    rateLimit:
      `"minute";r=${minuteLeft};t=${secondsUntil(minuteReset, nowMs)},` +
      `"day";r=${dayLeft};t=${secondsUntil(dayReset, nowMs)}`,
    retryAfterSeconds: secondsUntil(banned ? bannedUntilMs / 1000 : resetUnix, nowMs),
  };
}
