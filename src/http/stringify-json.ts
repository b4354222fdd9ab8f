import { stringify } from 'lossless-json';
import { isPagedResponse } from './paged-response.js';

/**
 * JSON text as `JSON.stringify` writes it, but with every digit of a bigint, and a page as the
 * array of its items.
 */
export function stringifyJson(value: unknown): string {
  return stringify(value, (_name, part) => (isPagedResponse(part) ? part.items : part)) ?? 'null';
}
