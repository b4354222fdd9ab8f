import type { Limits } from './limits.js';
import type { Decision } from './stores/rate-limit-store.js';
import { dayEndUnix, minuteEndUnix, secondsUntil } from '../time/windows.js';

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
  const minuteReset = minuteEndUnix(decision.minute);
  const dayReset = dayEndUnix(decision.day);
  const byMinute = minuteLeft < dayLeft;
  const banned = bannedUntilMs > nowMs;
  const banEnd = bannedUntilMs / 1000;
  const resetUnix = banned ? Math.ceil(banEnd) : byMinute ? minuteReset : dayReset;
  // While banned, every window says what the ban says: a client that reads any of them waits long enough.
  const minuteTold = banned ? 0 : minuteLeft;
  const dayTold = banned ? 0 : dayLeft;
  return {
    limit: byMinute ? limits.perMinute : limits.perDay,
    remaining: banned ? 0 : byMinute ? minuteLeft : dayLeft,
    resetUnix,
    rateLimit:
      `"minute";r=${minuteTold};t=${secondsUntil(banned ? banEnd : minuteReset, nowMs)},` +
      `"day";r=${dayTold};t=${secondsUntil(banned ? banEnd : dayReset, nowMs)}`,
    retryAfterSeconds: secondsUntil(banned ? banEnd : resetUnix, nowMs),
  };
}
