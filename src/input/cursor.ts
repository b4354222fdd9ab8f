import { crc32 } from 'node:zlib';
import { stringifyJson } from '../http/stringify-json.js';
import { requestContext } from '../telemetry/request-context.js';
import { parseInt64 } from './int64.js';
import { invalidRequest } from './invalid-request.js';

/** Completes "cursor must be ...". */
export const EXPECTED_CURSOR = 'from a Link header of this list and be used with the same filter';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A client can invent cursors, so a value that the database would reject or misread is undefined
 * here.
 */
const READERS = {
  int64: parseInt64,
  number: (text: string) => {
    const value = Number(parseInt64(text));
    return Number.isSafeInteger(value) ? value : undefined;
  },
  text: (text: string) => (text.isWellFormed() && !text.includes('\0') ? text : undefined),
  uuid: (text: string) => (UUID.test(text) ? text : undefined),
};

/** Types of columns that a list can be ordered by. */
export type CursorKind = keyof typeof READERS;
export type CursorKeys = {
  [Kind in CursorKind]: NonNullable<ReturnType<(typeof READERS)[Kind]>>;
};
export type CursorKey = CursorKeys[CursorKind];

/**
 * Position in a list: after the row with these keys. It is bound to the path and the filter of the
 * list.
 */
export class Cursor {
  private constructor(
    private readonly filter: string,
    private readonly keys: readonly string[],
  ) {}

  /** @param query the parameters of the list */
  static after(keys: readonly CursorKey[], query: object): Cursor {
    return new Cursor(digestOf(query), keys.map(String));
  }

  /** Decodes a cursor. Returns undefined for text that `toString()` has not produced. */
  static parse(text: string): Cursor | undefined {
    try {
      const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
      const [filter = '', ...keys] = (parts as unknown[]).map(String);
      const cursor = new Cursor(filter, keys);
      return cursor.toString() === text ? cursor : undefined;
    } catch {
      return undefined;
    }
  }

  /** @throws {ApiError} 400 `invalid_request` if the keys are not of these kinds */
  read(kinds: readonly CursorKind[]): readonly CursorKey[] {
    const keys = kinds.map((kind, index) => READERS[kind](this.keys[index] ?? ''));
    const areRead = keys.every((key) => key !== undefined);
    if (areRead && keys.length === this.keys.length) return keys;
    throw invalidRequest([`cursor must be ${EXPECTED_CURSOR}`]);
  }

  belongsTo(query: object): boolean {
    return this.filter === digestOf(query);
  }

  /** Base64url, opaque to clients. */
  toString(): string {
    return Buffer.from(JSON.stringify([this.filter, ...this.keys])).toString('base64url');
  }
}

/**
 * Checksum of the route pattern, the path parameters and the filter: the query without the position
 * of the page.
 */
function digestOf(query: object): string {
  const filter = Object.entries(query).filter(
    ([name, value]) => value !== undefined && name !== 'limit' && name !== 'cursor',
  );
  const { routeOptions, params } = requestContext.getStore() ?? {};
  const list = [routeOptions?.url, params, filter.length > 0 ? stringifyJson(filter.sort()) : ''];
  return crc32(JSON.stringify(list)).toString(36);
}
