/** `@ApiProperty()` options of a count, or of a time in Unix seconds. */
export const INT64 = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;
export const UNIX_TIME_OR_NULL = { oneOf: [INT64, { type: 'null' }], example: null };

/** Whole seconds of a time in Unix milliseconds. */
export function unixSeconds(unixMs: number): number;
export function unixSeconds(unixMs: number | null): number | null;
export function unixSeconds(unixMs: number | null): number | null {
  return unixMs === null ? null : Math.floor(unixMs / 1000);
}
