import { isInteger, isSafeNumber, parse, splitNumber } from 'lossless-json';
import { errors } from '../errors/errors.js';
import { invalidRequest, quoteForMessage } from './invalid-request.js';

/** Keeps the cost of validating a body small. */
const MAX_DEPTH = 32;
const TOO_DEEP = `The body must not be nested more than ${MAX_DEPTH} levels deep`;

/** Possibly beyond 2^53 - 1. */
const LONG_NUMBER = /\d{16}/;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a request body. Integers are exact: outside the safe range of a Number they are BigInts. A
 * byte order mark is skipped. `__proto__` is an ordinary own property.
 * @param maxValues the limit of the operation
 * @throws {ApiError} 400 `malformed_json`, or `invalid_request` for JSON that the service does not
 *   accept
 */
export function parseBody(body: Buffer | undefined, maxValues: number): unknown {
  const repeated = new Set<string>();
  const onDuplicateKey = ({ key }: { key: string }) => void repeated.add(key);
  let text = '';
  let value: unknown;
  try {
    text = utf8.decode(body);
    value = parse(text, undefined, { parseNumber: exactNumber, onDuplicateKey });
  } catch (cause) {
    if (cause instanceof RangeError) throw invalidRequest([TOO_DEEP]);
    // The message of the cause has a part of the body, which would be logged.
    const reason = reasonOf(text, cause as Error);
    throw errors.malformed_json(`The body is not JSON: ${reason}`);
  }
  const faults = Array.from(
    repeated,
    (name) => `${quoteForMessage(name)} appears more than once with different values`,
  );
  assertBounded(value, 0, { values: 0, maxValues, faults });
  if (faults.length > 0) throw invalidRequest(faults);
  return value;
}

/**
 * Parses JSON that the service itself has written. `JSON.parse` is exact for shorter integers, and
 * takes a third of the time.
 */
export function parseOwnJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return parse(text, undefined, { parseNumber: exactNumber });
}

/** Only the position in the parser's message is used. */
function reasonOf(text: string, { message }: Error): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  if (position === undefined) return 'it is not UTF-8';
  return Number(position) >= text.length
    ? 'unexpected end'
    : `unexpected character at position ${position}`;
}

/** Adds a fault for each member that is not well-formed Unicode. */
function assertBounded(
  value: unknown,
  depth: number,
  found: { values: number; maxValues: number; faults: string[] },
): void {
  if (++found.values > found.maxValues) {
    throw invalidRequest([`The body must not have more than ${found.maxValues} values`]);
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) throw invalidRequest([TOO_DEEP]);
  for (const [name, member] of Object.entries(value)) {
    // An escape sequence can be half of a surrogate pair, which no database stores.
    if (!name.isWellFormed() || (typeof member === 'string' && !member.isWellFormed())) {
      found.faults.push(`${quoteForMessage(name)} must be well-formed Unicode`);
    }
    assertBounded(member, depth + 1, found);
  }
}

/**
 * The value of a JSON number. An integer, however it is written (`1`, `1.0`, `10e-1`), is a Number
 * if that is exact, otherwise a BigInt. Any other number is the nearest Number, or NaN if rounding
 * would turn it into an integer.
 */
export function exactNumber(text: string): number | bigint {
  const nearest = Number(text);
  if (isSafeNumber(text)) return nearest || 0;
  if (isInteger(text)) return BigInt(text);
  const { sign, digits, exponent } = splitNumber(text);
  // JavaScript writes such a Number with an exponent as well.
  if (exponent > 20) return nearest;
  if (exponent < digits.length - 1) return Number.isInteger(nearest) ? Number.NaN : nearest;
  return BigInt(sign + digits.padEnd(exponent + 1, '0'));
}
