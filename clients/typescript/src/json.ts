// JSON with exact integers. `JSON.parse` rounds beyond 2^53 - 1, and Node 20 gives it no access to
// the source text.
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const BLANK = /[ \t\n\r]*/y;
const LITERALS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);
const LITERAL = /true|false|null/y;
const INTEGER = /^-?\d+$/;

/**
 * Parses JSON. Integers beyond 2^53 - 1 become bigint. Integers in `int64Members` always become
 * bigint, so that the type does not depend on the value. Texts in `timeMembers` become Date.
 */
export function readJson(
  text: string,
  int64Members: ReadonlySet<string> = new Set(),
  timeMembers: ReadonlySet<string> = new Set(),
): unknown {
  let at = 0;

  function take(token: RegExp): string | undefined {
    token.lastIndex = at;
    const found = token.exec(text)?.[0];
    if (found !== undefined) at = token.lastIndex;
    return found;
  }

  /** Skips the character if it is the next one. */
  function skip(character: string): boolean {
    take(BLANK);
    if (text[at] !== character) return false;
    at++;
    return true;
  }

  function expect(character: string): void {
    if (!skip(character)) fail();
  }

  function fail(): never {
    throw new SyntaxError(`The text is not JSON: unexpected character at position ${at}`);
  }

  function readString(): string {
    take(BLANK);
    const token = take(STRING) ?? fail();
    return JSON.parse(token) as string;
  }

  function readNumber(member: string): number | bigint {
    const token = take(NUMBER) ?? fail();
    const number = Number(token);
    const isBigint = !Number.isSafeInteger(number) || int64Members.has(member);
    return isBigint && INTEGER.test(token) ? BigInt(token) : number;
  }

  /** @param member name of the closest member that contains the value, also through arrays */
  function readValue(member: string): unknown {
    if (skip('{')) return readObject();
    if (skip('[')) return readArray(member);
    if (text[at] === '"') return timeMembers.has(member) ? new Date(readString()) : readString();
    const literal = take(LITERAL);
    return literal === undefined ? readNumber(member) : LITERALS.get(literal);
  }

  function readObject(): object {
    const object: Record<string, unknown> = {};
    if (skip('}')) return object;
    do {
      const name = readString();
      expect(':');
      const value = readValue(name);
      if (name !== '__proto__') object[name] = value;
      // An assignment would set the prototype instead of a member.
      else Object.defineProperty(object, name, { value, enumerable: true, configurable: true });
    } while (skip(','));
    expect('}');
    return withHiddenToJSON(object);
  }

  function readArray(member: string): unknown[] {
    const array: unknown[] = [];
    if (skip(']')) return array;
    do array.push(readValue(member));
    while (skip(','));
    expect(']');
    return withHiddenToJSON(array);
  }

  const value = readValue('');
  take(BLANK);
  if (at < text.length) fail();
  return value;
}

/**
 * Writes JSON like `JSON.stringify`, but writes each bigint as an exact JSON number.
 *
 * @throws {RangeError} for an integer of type number beyond 2^53 - 1, which may already be rounded
 * @throws {TypeError} for a value without a JSON form, such as undefined or a function
 */
export function toJSON(value: unknown): string {
  const text = write(value);
  if (text === undefined) throw new TypeError(`A value of type ${typeof value} has no JSON form`);
  return text;
}

function write(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && mayBeRounded(value)) {
    throw new RangeError(
      `${value} may already be rounded: use a bigint for integers beyond 2^53 - 1`,
    );
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if ('toJSON' in value && typeof value.toJSON === 'function' && value.toJSON !== hiddenToJSON) {
    return write((value as { toJSON(): unknown }).toJSON());
  }
  if (Array.isArray(value)) return `[${value.map((each) => write(each) ?? 'null').join()}]`;
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const text = write(member);
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join()}}`;
}

/**
 * Makes `JSON.stringify` work for an object or array that contains a bigint. The method is not
 * enumerable: spreading, comparing and logging ignore it.
 */
function withHiddenToJSON<T extends object>(container: T): T {
  const hasBigint = Object.values(container).some((value) => typeof value === 'bigint');
  if (!hasBigint || Object.hasOwn(container, 'toJSON')) return container;
  const property = { value: hiddenToJSON, configurable: true, writable: true };
  return Object.defineProperty(container, 'toJSON', property);
}

/**
 * Replaces each bigint by a number, or beyond 2^53 - 1 by a string, because JSON readers commonly
 * round such numbers.
 */
function hiddenToJSON(this: object): unknown {
  if (Array.isArray(this)) return this.map(withoutBigint);
  return Object.fromEntries(
    Object.entries(this).map(([name, value]) => [name, withoutBigint(value)]),
  );
}

function withoutBigint(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** Whether the number is an integer in the int64 range that a number cannot represent exactly. */
function mayBeRounded(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) <= 2 ** 63;
}
