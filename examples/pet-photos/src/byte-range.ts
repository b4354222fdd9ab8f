import { photoErrors } from './photo.errors.js';

/** The first and the last byte. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Reads a `Range` header with one range (RFC 9110 section 14.2).
 * @returns undefined for the whole file: also for several ranges, and for a malformed header
 * @throws {ApiError} 416 `range_not_satisfiable`
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const isSuffix = first === '';
  if (!isSuffix && last !== '' && Number(last) < Number(first)) return undefined;
  const start = isSuffix ? Math.max(0, size - Number(last)) : Number(first);
  if (start >= size) {
    throw photoErrors.range_not_satisfiable(`The photo has ${size} bytes`, {
      headers: { 'Content-Range': `bytes */${size}` },
    });
  }
  return { start, end: isSuffix || last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Whether an `If-None-Match` lists the tag (RFC 9110 section 13.1.2). */
export function lists(header: string | undefined, tag: string): boolean {
  const listed = (header ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''));
  return listed.includes(tag) || listed.includes('*');
}
