/**
 * JSON that is exact for integers. `JSON.parse` rounds beyond 2^53, and its access to the source text is
 * missing in Node 20; `JSON.stringify` refuses bigint.
 */
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
 * Reads JSON. Integers beyond 2^53 are bigint, so that none is rounded; those in the named members are
 * bigint whatever their size, so that their type doesn't depend on their value.
 */
export function readJson(text: string, int64Members: ReadonlySet<string> = new Set()): unknown {
  let at = 0;

  function take(token: RegExp): string | undefined {
    token.lastIndex = at;
    const found = token.exec(text)?.[0];
    if (found !== undefined) at = token.lastIndex;
    return found;
  }

  /** Whether the next character is this one, which is passed over. */
  function passes(character: string): boolean {
    take(BLANK);
    if (text[at] !== character) return false;
    at++;
    return true;
  }

  function expect(character: string): void {
    if (!passes(character)) fail();
  }

  function fail(): never {
    throw new SyntaxError(`Not JSON at character ${at}`);
  }

  function readString(): string {
    take(BLANK);
    const token = take(STRING) ?? fail();
    return JSON.parse(token) as string;
  }

  function readNumber(member: string): number | bigint {
    const token = take(NUMBER) ?? fail();
    const number = Number(token);
    const mustBeBigint = !Number.isSafeInteger(number) || int64Members.has(member);
    return mustBeBigint && INTEGER.test(token) ? BigInt(token) : number;
  }

  /** @param member the name of the member that the value is in, if through arrays */
  function readValue(member: string): unknown {
    if (passes('{')) return readObject();
    if (passes('[')) return readArray(member);
    if (text[at] === '"') return readString();
    const literal = take(LITERAL);
    return literal === undefined ? readNumber(member) : LITERALS.get(literal);
  }

  function readObject(): object {
    const object: Record<string, unknown> = {};
    if (passes('}')) return object;
    do {
      const name = readString();
      expect(':');
      const value = readValue(name);
      if (name !== '__proto__') object[name] = value;
      // Assigned, it would be the prototype and no member.
      else Object.defineProperty(object, name, { value, enumerable: true, configurable: true });
    } while (passes(','));
    expect('}');
    return object;
  }

  function readArray(member: string): unknown[] {
    const array: unknown[] = [];
    if (passes(']')) return array;
    do array.push(readValue(member));
    while (passes(','));
    expect(']');
    return array;
  }

  const value = readValue('');
  take(BLANK);
  if (at < text.length) fail();
  return value;
}

/** Writes JSON as `JSON.stringify` does, and bigint digit by digit. */
export function writeJson(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && isRoundedInt64(value)) {
    throw new RangeError(`${value} may be rounded already: an integer beyond 2^53 is a bigint`);
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return writeJson((value as { toJSON(): unknown }).toJSON());
  }
  if (Array.isArray(value)) return `[${value.map((each) => writeJson(each) ?? 'null').join()}]`;
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    const text = writeJson(member);
    if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join()}}`;
}

/** Whether a number stands where an int64 may have been meant, and may have lost its last digits. */
function isRoundedInt64(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) <= 2 ** 63;
}
