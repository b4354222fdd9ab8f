import { InvalidArgumentError } from 'commander';
import { isScope } from '../keys/scopes.js';
import { MAX_QUOTA } from '../rate-limits/limits.js';

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MAX_GRACE_MS = 365 * UNITS_MS.d;
const MAX_NAME_LENGTH = 255;
/** A name is printed on terminals: it must neither move the cursor, nor break or turn around a line. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const ISO_8601 =
  /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** A whole number from 1 up. */
export function quantity(text: string): number {
  const value = /^[1-9]\d{0,12}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= MAX_QUOTA) return value;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_QUOTA}.`);
}

/** A hundred years: what a database reckons with has its bounds. */
const MAX_DAYS = 36_500;

/** A number of days. */
export function dayCount(text: string): number {
  const value = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= MAX_DAYS) return value;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_DAYS}.`);
}

export function keyName(text: string): string {
  if (text.trim() !== '' && text.length <= MAX_NAME_LENGTH && !UNPRINTABLE.test(text)) {
    return text;
  }
  throw new InvalidArgumentError(`It must be 1 to ${MAX_NAME_LENGTH} printable characters.`);
}

/** A comma list of scopes, each once. */
export function scopeList(text: string): string[] {
  const scopes = text.split(',').map((scope) => scope.trim());
  if (scopes.every(isScope) && text.length <= 1_000) return [...new Set(scopes)];
  throw new InvalidArgumentError('It must be a comma list such as pets:read,pets:write.');
}

/** A date, or a moment with its time zone: Unix milliseconds. */
export function moment(text: string): number {
  const [, date] = ISO_8601.exec(text) ?? [];
  const unixMs = Date.parse(text);
  // Date.parse() takes 30 February for 2 March.
  if (date !== undefined && unixMs > 0 && new Date(date).toISOString().startsWith(date)) {
    return unixMs;
  }
  throw new InvalidArgumentError(
    'It must be an ISO 8601 date, or a time with its zone, such as 2030-12-05T00:00:00Z.',
  );
}

/** A moment that is still to come. */
export function futureMoment(text: string): number {
  const unixMs = moment(text);
  if (unixMs > Date.now()) return unixMs;
  throw new InvalidArgumentError('It must not be in the past.');
}

/** A whole number and `s`, `m`, `h` or `d`: milliseconds. */
export function duration(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
  if (ms <= MAX_GRACE_MS) return ms;
  throw new InvalidArgumentError('It must be a whole number and s, m, h or d, at most 365d.');
}
