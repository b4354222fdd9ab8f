/**
 * The fixed windows of a quota, in UTC. A window is identified by the number of whole minutes or
 * days since the Unix epoch. Unix time has no leap seconds and no time zones, so this number is
 * exact.
 */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / MINUTE_MS);
}

export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}

/** End of a minute in Unix seconds. */
export function minuteEndUnix(minute: number): number {
  return ((minute + 1) * MINUTE_MS) / 1000;
}

/** End of a day in Unix seconds. */
export function dayEndUnix(day: number): number {
  return ((day + 1) * DAY_MS) / 1000;
}

/**
 * Whole seconds from `nowMs` until a Unix time, rounded up and at least 1: the value of
 * `Retry-After`.
 */
export function secondsUntil(unixSeconds: number, nowMs: number): number {
  return Math.max(1, Math.ceil(unixSeconds - nowMs / 1000));
}

/** Formats a time of Unix milliseconds in ISO 8601, UTC. */
export function isoTime<Time extends number | null>(unixMs: Time) {
  const text = unixMs === null ? null : new Date(unixMs).toISOString();
  return text as Time extends null ? null : string;
}
