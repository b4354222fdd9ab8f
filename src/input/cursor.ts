import { createHash } from 'node:crypto';
import { stringifyJson } from '../http/answers.js';
import { getRequestContext } from '../telemetry/request-context.js';
import { parseInt64 } from './json.js';

/** What a list may be ordered by. */
export interface CursorKeys {
  int64: bigint;
  integer: number;
  text: string;
  uuid: string;
}
export type CursorKind = keyof CursorKeys;
type Keys<Kinds extends readonly CursorKind[]> = {
  [Index in keyof Kinds]: CursorKeys[Kinds[Index]];
};

export type CursorKey = bigint | number | string;

/** Of a target, of which 8,000 bytes are read, the cursor leaves some for the rest. */
const MAX_LENGTH = 7_000;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const INTEGER = /^(?:0|-?[1-9]\d{0,15})$/;

/** A caller can make cursors up: what the database would refuse, or take for something else, is none. */
const READERS: { [Kind in CursorKind]: (text: string) => CursorKeys[Kind] | undefined } = {
  int64: parseInt64,
  integer: (text) =>
    INTEGER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined,
  text: (text) => (text.isWellFormed() && !text.includes('\0') ? text : undefined),
  uuid: (text) => (UUID.test(text) ? text : undefined),
};

/** Where a page of a list ends: after the row with these keys, in the list of this path with this filter. */
export class Cursor {
  private constructor(
    private readonly filter: string,
    private readonly keys: readonly string[],
  ) {}

  /** @param filter whatever else the list was asked with */
  static after(keys: readonly CursorKey[], filter: object): Cursor {
    return new Cursor(digestOf(filter), keys.map(String));
  }

  /** The cursor that a text stands for; undefined where it is none that was handed out. */
  static parse(text: string): Cursor | undefined {
    if (text.length > MAX_LENGTH) return undefined;
    try {
      const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
      if (!Array.isArray(parts) || !parts.every((part) => typeof part === 'string'))
        return undefined;
      const [filter, ...keys] = parts;
      const cursor = new Cursor(filter ?? '', keys);
      return cursor.toString() === text ? cursor : undefined;
    } catch {
      return undefined;
    }
  }

  /** The keys; undefined where they are not of these kinds. */
  read<const Kinds extends readonly CursorKind[]>(kinds: Kinds): Keys<Kinds> | undefined {
    if (this.keys.length !== kinds.length) return undefined;
    const keys: readonly unknown[] = kinds.map((kind, index) => READERS[kind](this.keys[index]!));
    return keys.includes(undefined) ? undefined : (keys as Keys<Kinds>);
  }

  belongsTo(filter: object): boolean {
    return this.filter === digestOf(filter);
  }

  /** Opaque to callers: base64url, so that nobody takes it apart. */
  toString(): string {
    return Buffer.from(JSON.stringify([this.filter, ...this.keys])).toString('base64url');
  }
}

/** Of a list: the filter, the pattern of its operation, and what the path says for its parameters. */
function digestOf(filter: object): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  given.sort(([one], [other]) => (one < other ? -1 : 1));
  const { routeOptions, params } = getRequestContext() ?? {};
  const list = [given, routeOptions?.url, params];
  return createHash('sha256').update(stringifyJson(list)).digest('base64url').slice(0, 12);
}
