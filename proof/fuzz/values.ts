import fc, { type Arbitrary } from 'fast-check';
import type { Document, Schema } from './document.js';

/** A value of JSON, with exact integers. */
export type Value = null | boolean | number | bigint | string | Value[] | { [name: string]: Value };

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const SMALL = { min: 1n, max: 60n };
const MEMBERS = ['id', '__proto__', 'constructor', 'toString', 'Name', 'a.b', ''];

export function jsonOf(value: Value): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}:${jsonOf(each)}`,
  );
  return `{${members.join(',')}}`;
}

/** Makes values from schemas. */
export class Values {
  constructor(private readonly document: Document) {}

  valid(given: Schema): Arbitrary<Value> {
    const schema = this.merged(given);
    const variants = schema.oneOf ?? schema.anyOf;
    if (variants !== undefined) return fc.oneof(...variants.map((each) => this.valid(each)));
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    const types = [schema.type ?? 'null'].flat();
    return fc.oneof(...types.map((type) => this.validOf(type, schema)));
  }

  /** Values that a schema excludes. */
  invalid(given: Schema): Arbitrary<Value> {
    const schema = this.merged(given);
    const isExcluded = (value: Value): boolean => {
      const read = JSON.parse(jsonOf(value)) as unknown;
      return exceedsInt64(value) || this.document.faultOf(given, read) !== undefined;
    };
    const candidates: Arbitrary<Value>[] = [
      fc.constantFrom<Value>(null, true, '', '7', 'x', 0, 1.5, 2n ** 63n, [], {}, [1], '\u0000'),
      fc.constantFrom(...boundariesOf(schema)),
    ];
    if (schema.properties !== undefined) {
      const object = this.invalidObject(schema);
      candidates.push(object, object, object, object);
    }
    return fc.oneof(...candidates).filter(isExcluded);
  }

  private validOf(type: string, schema: Schema): Arbitrary<Value> {
    if (type === 'integer') return validInteger(schema);
    if (type === 'string') return validString(schema);
    if (type === 'boolean') return fc.boolean();
    if (type === 'number') return fc.double({ noNaN: true, noDefaultInfinity: true });
    if (type === 'array') {
      const { items = {}, minItems = 0, maxItems = 5 } = schema;
      const lengths = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 5) };
      return fc.array(this.valid(items), lengths);
    }
    if (type === 'object') return this.validObject(schema);
    return fc.constant(null);
  }

  private validObject({ properties = {}, required = [] }: Schema): Arbitrary<Value> {
    const members = Object.entries(properties).map(
      ([name, each]) => [name, this.valid(each)] as const,
    );
    return fc.record(Object.fromEntries(members), {
      requiredKeys: required,
      noNullPrototype: true,
    });
  }

  /** A valid object with one fault. */
  private invalidObject(schema: Schema): Arbitrary<Value> {
    const { properties = {}, required = [], additionalProperties } = schema;
    const valid = this.validObject(schema) as Arbitrary<Record<string, Value>>;
    const broken = Object.entries(properties).map(([name, each]) =>
      fc
        .tuple(valid, this.invalid(each))
        .map(([object, value]) => Object.assign({}, object, { [name]: value })),
    );
    const incomplete = required.map((name) =>
      valid.map((object) =>
        Object.fromEntries(Object.entries(object).filter(([key]) => key !== name)),
      ),
    );
    if (additionalProperties !== false) return fc.oneof(...broken, ...incomplete);
    const extended = fc
      .tuple(valid, fc.constantFrom(...MEMBERS), fc.constantFrom<Value>(null, 1n, 'x', {}))
      .map(([object, name, value]) =>
        Object.fromEntries([...Object.entries(object), [name, value]]),
      );
    return fc.oneof(...broken, ...incomplete, extended);
  }

  private merged(given: Schema): Schema {
    const schema = this.document.resolve(given);
    const parts = (schema.allOf ?? []).map((each) => this.merged(each));
    return Object.assign({}, schema, ...parts) as Schema;
  }
}

function validInteger({ minimum, maximum }: Schema): Arbitrary<bigint> {
  const min = minimum === undefined ? INT64.min : BigInt(minimum);
  const max = maximum === undefined ? INT64.max : BigInt(maximum);
  const isValid = (value: bigint): boolean => value >= min && value <= max;
  const edges = [min, max, 0n, 1n, 2n ** 53n + 1n].filter(isValid);
  const small = fc.bigInt(SMALL.min < min ? min : SMALL.min, SMALL.max > max ? max : SMALL.max);
  return fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min, max }), small, small);
}

function validString({ pattern, minLength = 0, maxLength }: Schema): Arbitrary<string> {
  if (pattern === undefined) {
    const limits = maxLength === undefined ? { minLength } : { minLength, maxLength };
    return fc.string({ unit: 'grapheme', ...limits });
  }
  const isValid = (text: string): boolean => {
    const { length } = [...text];
    return length >= minLength && length <= (maxLength ?? length) && text.isWellFormed();
  };
  return fc.stringMatching(new RegExp(pattern, 'u')).filter(isValid);
}

/** Values on both sides of what the limits of a schema allow. */
function boundariesOf(schema: Schema): Value[] {
  const { minimum, maximum, maxLength } = schema;
  const values: Value[] = [2n ** 63n, -(2n ** 63n) - 1n, -1n, 'NaN', [[]]];
  if (minimum !== undefined) values.push(BigInt(minimum) - 1n, String(minimum));
  if (maximum !== undefined) values.push(BigInt(maximum) + 1n, maximum + 0.5);
  if (maxLength !== undefined) values.push('n'.repeat(maxLength + 1), '🐕'.repeat(maxLength + 1));
  return values;
}

function exceedsInt64(value: Value): boolean {
  if (typeof value === 'bigint') return value < INT64.min || value > INT64.max;
  if (value === null || typeof value !== 'object') return false;
  return Object.values(value).some(exceedsInt64);
}
