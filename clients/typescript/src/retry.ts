import { PetStoreConnectionError, PetStoreError } from './errors.js';

const SMALLEST_JITTER_MS = 100;
const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 10_000;

/** @param attempt the attempt that failed: 1 for the first */
export function isRetryable(error: unknown, attempt: number): boolean {
  if (error instanceof PetStoreConnectionError) return true;
  if (!(error instanceof PetStoreError)) return false;
  if (error.status === 503 || error.code === 'rate_limit_exceeded') return true;
  // An earlier attempt of this call lost its connection, and the service is still executing it.
  return error.code === 'idempotency_key_in_use' && attempt > 1;
}

/**
 * @returns `Retry-After` plus jitter, or exponential backoff with full jitter if the error has
 *   none.
 */
export function delayMs(error: unknown, attempt: number, random: () => number): number {
  const seconds = error instanceof PetStoreError ? error.retryAfterSeconds : undefined;
  if (seconds !== undefined) return withJitter(seconds * 1000, random);
  return random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1));
}

/** Adds up to a tenth, at least up to 100 ms, so that clients do not return simultaneously. */
export function withJitter(ms: number, random: () => number): number {
  return ms + random() * Math.max(SMALLEST_JITTER_MS, ms / 10);
}

/** @returns seconds. The header holds seconds or a date (RFC 9110 section 10.2.3). */
export function readRetryAfter(field: string | null, nowUnixMs: number): number | undefined {
  if (field === null) return undefined;
  if (/^\d+$/.test(field)) return Number(field);
  const date = Date.parse(field);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - nowUnixMs) / 1000));
}
