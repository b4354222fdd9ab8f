import { crc32 } from 'node:zlib';
import { stringifyJson } from '../http/stringify-json.js';
import { parseInt64 } from './int64.js';
import { invalidRequest } from './invalid-request.js';

export const CURSOR_FAULT =
  'cursor must come from a Link header of this list, and the filter must be the same';

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
/** A value that a cursor contains. */
export type CursorKey = CursorKeys[CursorKind];

/** Position in a list: after the row with these keys. It contains a checksum of the list. */
export class Cursor {
  /** @param list a checksum */
  constructor(
    private readonly list: string,
    private readonly keys: readonly string[],
  ) {}

  /** @param list what identifies the list: its source, order and filter */
  static after(keys: readonly CursorKey[], list: readonly unknown[]): Cursor {
    return new Cursor(checksumOf(list), keys.map(String));
  }

  /** Decodes a cursor. Returns undefined for text that `toString()` has not produced. */
  static parse(text: string): Cursor | undefined {
    try {
      const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
      const [list = '', ...keys] = (parts as unknown[]).map(String);
      const cursor = new Cursor(list, keys);
      return cursor.toString() === text ? cursor : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * @param list as passed to `after()`
   * @throws {ApiError} 400 `invalid_request` for another list, or for keys of other kinds
   */
  read(kinds: readonly CursorKind[], list: readonly unknown[]): readonly CursorKey[] {
    const keys = kinds.map((kind, index) => READERS[kind](this.keys[index] ?? ''));
    const areRead = keys.every((key) => key !== undefined) && keys.length === this.keys.length;
    if (areRead && this.list === checksumOf(list)) return keys;
    throw invalidRequest([CURSOR_FAULT]);
  }

  /** Base64url, opaque to clients. */
  toString(): string {
    return Buffer.from(JSON.stringify([this.list, ...this.keys])).toString('base64url');
  }
}

function checksumOf(list: readonly unknown[]): string {
  return crc32(stringifyJson(list)).toString(36);
}
