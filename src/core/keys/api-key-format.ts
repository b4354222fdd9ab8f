import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * An API key is `psk_`, 256 random bits in base62, and the CRC-32 of all preceding characters in
 * base62. Secret scanners recognise it, and a mistyped key is rejected without a database lookup.
 */
export const KEY_PREFIX = 'psk_';
/** A token of the admin API differs in its prefix alone. */
export const ADMIN_PREFIX = 'psa_';
const RANDOM_BYTES = 32;
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHAPE = new RegExp(`^ps[ka]_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);
/** A whole key or token within a text. */
export const KEY_FORM = /ps[ka]_\w{20,}/;

/** Returns a new random key, or with another prefix a token. */
export function mintKey(prefix = KEY_PREFIX): string {
  const number = BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`);
  const body = prefix + base62(number, RANDOM_LENGTH);
  return body + checksum(body);
}

/** Whether a text has the shape and the checksum of a key. */
export function isWellFormedKey(text: string, prefix = KEY_PREFIX): boolean {
  return (
    text.startsWith(prefix) &&
    SHAPE.test(text) &&
    text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)))
  );
}

/** The SHA-256 of a key in base64url, which is stored instead of the key. */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

/** Returns a new identifier: the prefix, `_` and 95 random bits in base62. */
export function mintId(prefix: string): string {
  const number = BigInt(`0x${randomBytes(12).toString('hex')}`);
  return `${prefix}_${base62(number, 17)}`;
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
}
