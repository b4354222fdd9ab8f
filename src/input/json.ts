/**
 * JSON (RFC 8259) that is exact to the last digit of an int64.
 *
 * `JSON.parse` rounds integers above 2^53, keeps the last of two equal members and gives `__proto__`
 * a meaning. This parser reads a number that is mathematically an integer, however it is written
 * (`1`, `1.0`, `10e-1`), as a Number where that is exact and else as a BigInt; any other number as the
 * nearest Number, or NaN where only rounding would make it an integer. Objects are ordinary ones, and
 * every name is an ordinary member of its own, `__proto__` too. Depth is bounded, so recursion cannot exhaust the stack.
 */

export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [name: string]: JsonValue;
}

/** The text is not JSON. */
export class JsonSyntaxError extends Error {}

/** The text is JSON, and of some object a member is given twice. */
export class JsonDuplicateError extends Error {
  /** @param value which has the last of each */
  constructor(
    readonly members: readonly string[],
    readonly value: JsonValue,
  ) {
    super(`given twice: ${members.join(', ')}`);
  }
}

/** The text is JSON beyond what is read of it: its cost, in whatever reads the value, stays bounded. */
export class JsonLimitError extends Error {}

/** More digits than any int64, as many as the rest of the service ever needs to tell apart. */
const MAX_INTEGER_DIGITS = 40;

interface Limits {
  depth: number;
  values: number;
}
const LIMITS: Limits = { depth: 32, values: 1_000 };
const NO_LIMITS: Limits = { depth: Infinity, values: Infinity };

const NUMBER = /-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y;
/** Up to the next quotation mark, escape or control character. */
// eslint-disable-next-line no-control-regex -- control characters are what ends it
const PLAIN_CHARACTERS = /[^"\\\u0000-\u001f]*/y;
const LITERALS = { t: ['true', true], f: ['false', false], n: ['null', null] } as const;

/**
 * @throws {JsonSyntaxError} for what is not JSON
 * @throws {JsonDuplicateError} for a member given twice
 * @throws {JsonLimitError} for more values, or a deeper nesting, than any request needs
 */
export function parseJson(text: string): JsonValue {
  try {
    return new Parser(text, LIMITS).parse();
  } catch (error) {
    if (error instanceof JsonLimitError && !isJson(text)) {
      throw new JsonSyntaxError('unexpected character or end');
    }
    throw error;
  }
}

/** What the service has written itself, however deep and long. */
export function parseOwnJson(text: string): JsonValue {
  return new Parser(text, NO_LIMITS).parse();
}

/** Whether it is, however deep and long: what it says is of no interest. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

class Parser {
  private position = 0;
  private values = 0;
  private readonly twice = new Set<string>();

  constructor(
    private readonly text: string,
    private readonly limits: Limits,
  ) {}

  parse(): JsonValue {
    const value = this.value(0);
    this.skipWhiteSpace();
    if (this.position < this.text.length) throw this.unexpected();
    if (this.twice.size > 0) throw new JsonDuplicateError([...this.twice], value);
    return value;
  }

  private value(depth: number): JsonValue {
    if (++this.values > this.limits.values) {
      throw new JsonLimitError(`of more than ${this.limits.values} values`);
    }
    this.skipWhiteSpace();
    const character = this.text[this.position];
    switch (character) {
      case '{':
        return this.object(depth + 1);
      case '[':
        return this.array(depth + 1);
      case '"':
        return this.string();
      case 't':
      case 'f':
      case 'n':
        return this.literal(LITERALS[character]);
      default:
        return this.number();
    }
  }

  private object(depth: number): JsonObject {
    this.enter(depth);
    const object: JsonObject = {};
    if (this.take('}')) return object;
    do {
      this.skipWhiteSpace();
      if (this.text[this.position] !== '"') throw this.unexpected();
      const name = this.string();
      if (Object.hasOwn(object, name)) this.twice.add(name);
      if (!this.take(':')) throw this.unexpected();
      const value = this.value(depth);
      if (name === '__proto__') defineOwn(object, name, value);
      else object[name] = value;
    } while (this.take(','));
    if (!this.take('}')) throw this.unexpected();
    return object;
  }

  private array(depth: number): JsonValue[] {
    this.enter(depth);
    const array: JsonValue[] = [];
    if (this.take(']')) return array;
    do {
      array.push(this.value(depth));
    } while (this.take(','));
    if (!this.take(']')) throw this.unexpected();
    return array;
  }

  private enter(depth: number): void {
    const { depth: most } = this.limits;
    if (depth > most) throw new JsonLimitError(`nested more than ${most} levels deep`);
    this.position++;
  }

  private string(): string {
    const start = this.position++;
    let escaped = false;
    for (;;) {
      PLAIN_CHARACTERS.lastIndex = this.position;
      PLAIN_CHARACTERS.test(this.text);
      this.position = PLAIN_CHARACTERS.lastIndex;
      const character = this.text[this.position];
      if (character === '"') break;
      if (character !== '\\') throw this.unexpected();
      escaped = true;
      this.position = Math.min(this.position + 2, this.text.length);
    }
    this.position++;
    if (!escaped) return this.text.slice(start + 1, this.position - 1);
    try {
      return JSON.parse(this.text.slice(start, this.position)) as string;
    } catch {
      throw new JsonSyntaxError(`bad escape in the string at position ${start}`);
    }
  }

  private number(): number | bigint {
    NUMBER.lastIndex = this.position;
    const match = NUMBER.exec(this.text);
    if (match === null) throw this.unexpected();
    this.position = NUMBER.lastIndex;
    const [source, whole = '', fraction = '', exponent = '0'] = match;
    const value = exactNumber(source, whole + fraction, Number(exponent) - fraction.length);
    // A number as large as that was none of an int64 for who wrote it.
    const isHuge = value === Infinity || value === -Infinity;
    return isHuge && this.limits === NO_LIMITS ? Number(source) : value;
  }

  private literal([word, value]: readonly [string, boolean | null]): boolean | null {
    if (!this.text.startsWith(word, this.position)) throw this.unexpected();
    this.position += word.length;
    return value;
  }

  private take(character: string): boolean {
    this.skipWhiteSpace();
    if (this.text[this.position] !== character) return false;
    this.position++;
    return true;
  }

  private skipWhiteSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.position);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.position++;
    }
  }

  private unexpected(): JsonSyntaxError {
    return this.position >= this.text.length
      ? new JsonSyntaxError('unexpected end')
      : new JsonSyntaxError(`unexpected character at position ${this.position}`);
  }
}

/** Assigned, it would be the prototype. */
function defineOwn(object: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** The value of `digits` times ten to the `exponent`, negative where the source says so. */
function exactNumber(source: string, digits: string, exponent: number): number | bigint {
  const nearest = Number(source);
  if (exponent === 0 && Number.isSafeInteger(nearest)) return nearest === 0 ? 0 : nearest;

  // Loops, not regular expressions: a run of zeros in the middle must not cost its square.
  let first = 0;
  while (digits[first] === '0') first++;
  let end = digits.length;
  while (end > first && digits[end - 1] === '0') end--;
  if (first === end) return 0;

  const power = exponent + (digits.length - end);
  if (power < 0) return Number.isInteger(nearest) ? Number.NaN : nearest;
  // A number this large is out of every range, and must not cost memory in proportion to its exponent.
  if (end - first + power > MAX_INTEGER_DIGITS) return nearest < 0 ? -Infinity : Infinity;

  const magnitude = BigInt(digits.slice(first, end)) * 10n ** BigInt(power);
  const value = source.startsWith('-') ? -magnitude : magnitude;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

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
