import { PetStoreConnectionError, PetStoreError } from './errors.js';

const SMALLEST_JITTER_MS = 100;
const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 10_000;

/** @param tries how many there have been, the failed one included */
export function isWorthRetrying(error: unknown, tries: number): boolean {
  if (error instanceof PetStoreConnectionError) return true;
  if (!(error instanceof PetStoreError)) return false;
  if (error.status === 503 || error.code === 'rate_limit_exceeded') return true;
  // What a broken connection left behind is still under way: ours, since the key is.
  return error.code === 'idempotency_key_in_use' && tries > 1;
}

/** `Retry-After` and some more, so that not all come back at once; else exponential with full jitter. */
export function delayMs(error: unknown, tries: number, random: () => number): number {
  const seconds = error instanceof PetStoreError ? error.retryAfterSeconds : undefined;
  if (seconds !== undefined) return withJitter(seconds * 1000, random);
  return random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (tries - 1));
}

/** Up to a tenth later, never earlier. */
export function withJitter(ms: number, random: () => number): number {
  return ms + random() * Math.max(SMALLEST_JITTER_MS, ms / 10);
}

/** Seconds, or a date (RFC 9110 section 10.2.3). */
export function readRetryAfter(field: string | null, nowUnixMs: number): number | undefined {
  if (field === null) return undefined;
  if (/^\d+$/.test(field)) return Number(field);
  const date = Date.parse(field);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - nowUnixMs) / 1000));
}
