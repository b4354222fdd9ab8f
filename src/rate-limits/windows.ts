/**
 * The two fixed windows, in UTC: the minute starts at :00 seconds, the day at 00:00. Unix time has
 * neither leap seconds nor time zones, so a window is a whole number of milliseconds since the epoch,
 * and is named by its number.
 */
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

export function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / MINUTE_MS);
}

export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}

/** When the minute that holds `nowMs` ends: Unix seconds. */
export function minuteResetUnix(nowMs: number): number {
  return (minuteOf(nowMs) + 1) * 60;
}

/** When the day that holds `nowMs` ends: Unix seconds. */
export function dayResetUnix(nowMs: number): number {
  return (dayOf(nowMs) + 1) * 86_400;
}

/** Whole seconds from `nowMs` until a Unix time, at least 1: who waits that long is not too early. */
export function secondsUntil(unixSeconds: number, nowMs: number): number {
  return Math.max(1, Math.ceil(unixSeconds - nowMs / 1000));
}
