import { InvalidArgumentError } from 'commander';
import { ADDRESS_LIST, parseAddresses } from '../core/keys/allowed-from.js';
import { isKeyName, MAX_NAME_LENGTH, parseTime } from '../core/keys/key-terms.js';
import { MAX_QUOTA } from '../core/rate-limits/limits.js';

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MAX_GRACE_MS = 365 * UNITS_MS.d;
const PACKAGE_NAME = /^(?=.{1,40}$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
/** Paths of the service, and names that a new extension imports. */
const RESERVED =
  /^(v1|pet|account|usage|key|docs|define|typeorm|type-orm|class-validator|pet-store-service)$/;

function integerUpTo(max: number): (text: string) => number {
  return (text) => {
    const value = /^[1-9]\d{0,12}$/.test(text) ? Number(text) : Number.NaN;
    if (value <= max) return value;
    throw new InvalidArgumentError(`It must be an integer between 1 and ${max}.`);
  };
}

export const quantity = integerUpTo(MAX_QUOTA);
/** Up to 100 years. */
export const days = integerUpTo(36_500);

export function keyName(text: string): string {
  if (isKeyName(text)) return text;
  throw new InvalidArgumentError(
    `It must be 1 to ${MAX_NAME_LENGTH} printable characters, at least one of them visible, ` +
      'and must not contain a key.',
  );
}

/** Rejects a folder, and an empty path, for example from an unset shell variable. */
export function file(text: string): string {
  if (text.trim() !== '' && !text.endsWith('/')) return text;
  throw new InvalidArgumentError('It must be a file path.');
}

export function packageName(text: string): string {
  if (PACKAGE_NAME.test(text) && !RESERVED.test(text)) return text;
  throw new InvalidArgumentError(
    'It must be in kebab case, at most 40 characters long and no path or import of the service; ' +
      'for example store-orders.',
  );
}

/** Parses a comma-separated list and removes repeated scopes. */
export function scopes(text: string): string[] {
  const list = text.split(',').map((scope) => scope.trim());
  if (!list.includes('') && text.length <= 1_000) return [...new Set(list)];
  throw new InvalidArgumentError('It must be a comma-separated list: pets:read,pets:write.');
}

/** Parses a comma-separated list of addresses and CIDR ranges. */
export function addresses(text: string): string[] {
  const list = parseAddresses(text.split(',').map((entry) => entry.trim()));
  if (list !== undefined) return list;
  throw new InvalidArgumentError(
    `It must be ${ADDRESS_LIST}, separated by commas: 203.0.113.7,2001:db8::/32.`,
  );
}

export function addressesOrAny(text: string): string[] {
  return text === 'any' ? [] : addresses(text);
}

/** Parses an ISO 8601 date or time in the future; returns Unix milliseconds. */
export function expiry(text: string): number {
  const unixMs = parseTime(text);
  if (unixMs !== undefined && unixMs > Date.now()) return unixMs;
  throw new InvalidArgumentError(
    'It must be an ISO 8601 date, or a time with its zone (2030-12-05T00:00:00Z), ' +
      'and not in the past.',
  );
}

/** Parses an ISO 8601 date or time at a full hour; returns Unix milliseconds. */
export function hour(text: string): number {
  const unixMs = parseTime(text);
  if (unixMs !== undefined && unixMs % UNITS_MS.h === 0) return unixMs;
  throw new InvalidArgumentError(
    'It must be an ISO 8601 date, or a full hour of UTC with its zone (2030-12-05T09:00:00Z).',
  );
}

/** @returns Infinity for `never`, because commander replaces null */
export function expiryOrNever(text: string): number {
  return text === 'never' ? Infinity : expiry(text);
}

/** Parses an integer followed by `s`, `m`, `h` or `d`; returns milliseconds. */
export function duration(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
  if (ms <= MAX_GRACE_MS) return ms;
  throw new InvalidArgumentError('It must be an integer followed by s, m, h or d, at most 365d.');
}
