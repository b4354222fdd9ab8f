/** The range of the format `int64` (OpenAPI), which ends beyond what a Number holds exactly. */
export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

const CANONICAL = /^(?:0|-?[1-9]\d{0,18})$/;

/** Whether it is exactly an int64: a Number only within the range that it holds exactly. */
export function isInt64(value: unknown): value is number | bigint {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX;
}

/** The int64 that plain decimal digits stand for; undefined where there is none, or another way to write it. */
export function parseInt64(text: string): bigint | undefined {
  if (!CANONICAL.test(text)) return undefined;
  const value = BigInt(text);
  return isInt64(value) ? value : undefined;
}
