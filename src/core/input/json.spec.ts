import { stringifyJson } from '../http/stringify-json.js';
import { exactNumber, parseBody, parseOwnJson } from './json.js';

const parse = (text: string): unknown => parseBody(Buffer.from(text), 1_000);

describe(exactNumber.name, () => {
  it.each<[string, unknown]>([
    ['0', 0],
    ['-0', 0],
    ['-7', -7],
    ['1.0', 1],
    ['10e-1', 1],
    ['1e2', 100],
    ['0e400', 0],
    ['0.000', 0],
    ['1.5', 1.5],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775808', 9223372036854775808n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775807.0', 9223372036854775807n],
    ['9.223372036854775807e18', 9223372036854775807n],
    ['92233720368547758070e-1', 9223372036854775807n],
    ['9.22e18', 9220000000000000000n],
    ['1e20', 100000000000000000000n],
    ['1e21', 1e21],
    ['1234567890123456789012345', 1234567890123456789012345n],
    ['1e400', Infinity],
    ['1e999999999', Infinity],
    ['1e-999999999', NaN],
    ['1.00000000000000000001', NaN],
    ['4503599627370497.00000000001', NaN],
  ])('reads %s as %p', (text, expected) => {
    expect(exactNumber(text)).toBe(expected);
  });

  it('reads a number of 64 KiB in linear time', () => {
    const zeros = `1${'0'.repeat(65_000)}1`;
    const before = process.cpuUsage();
    expect(exactNumber(zeros) > 10n ** 65_000n).toBe(true);
    expect(exactNumber(`0.${zeros}`)).toBeCloseTo(0.1);
    expect(process.cpuUsage(before).user).toBeLessThan(500_000);
  });
});

describe(parseBody.name, () => {
  it('accepts the same texts as JSON.parse, in 2,000 random mutations', () => {
    const seeds = [
      '{"a":[1,2.5e3,-0,"x\\n"],"b":{"c":null,"d":true}}',
      '[{"k":"v"},false,"\\u00e9"]',
    ];
    const alphabet = '{}[]",:.eE+-0123456789 \\ntrufalse\t\u0001é';
    let state = 42;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
      return state % below;
    };
    const attempt = (work: () => string): string => {
      try {
        return work().replaceAll('-0', '0');
      } catch (error) {
        return (error as { code?: string }).code === 'invalid_request' ? 'rejected' : 'not JSON';
      }
    };
    for (let round = 0; round < 2_000; round++) {
      let text = seeds[round % seeds.length]!;
      for (let change = 0; change <= random(3); change++) {
        const at = random(text.length);
        text = text.slice(0, at) + alphabet[random(alphabet.length)]! + text.slice(at + random(2));
      }
      const json = attempt(() => stringifyJson(parse(text)));
      // Beyond 2^53 the two differ by design.
      if (json === 'rejected' || /\d{16}|[eE]\d{2}/.test(text)) continue;
      expect({ text, json }).toEqual({
        text,
        json: attempt(() => JSON.stringify(JSON.parse(text))),
      });
    }
  });

  it('skips a byte order mark', () => {
    expect(parse('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  it.each([
    ['', 'unexpected end'],
    ['{"name":"Rex', 'unexpected end'],
    ['{"a":1,}', 'unexpected character at position 7'],
    ["{'secret':1}", 'unexpected character at position 1'],
    ['{"a":1,"a":2', 'unexpected end'],
    [Buffer.from([0x22, 0xff, 0x22]), 'it is not UTF-8'],
  ])('rejects %p as malformed and says where', (body, reason) => {
    expect(() => parseBody(Buffer.from(body as string), 1_000)).toThrow(
      expect.objectContaining({
        code: 'malformed_json',
        message: `The body is not JSON: ${reason}`,
      }),
    );
  });

  it.each([
    [
      '{"a":1,"b":[{"c":1,"c":2,"c":3}],"a":2}',
      /^"c" appears more than once .*; "a" appears more than once/,
    ],
    ['{"a":1,"a":2,"b":"\\ud800"}', /^"a" appears more than once .*; "b" must be well-formed/],
    ['{"b":{"\\u0061":1,"a":2}}', /^"a" appears more than once with different values$/],
    [`${'['.repeat(30_000)}${']'.repeat(30_000)}`, /nested more than 32 levels/],
    [`${'['.repeat(33)}${']'.repeat(33)}`, /nested more than 32 levels/],
    [`[${'1,'.repeat(1_000)}1]`, /more than 1000 values/],
    ['{"a":[{"b":"x\\ud800"}]}', /^"b" must be well-formed Unicode$/],
    ['{"\\udc00":1}', /^"\ufffd" must be well-formed Unicode$/],
  ])('rejects JSON that no operation needs: %#', (text, message) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: expect.stringMatching(message),
      }),
    );
  });

  it('accepts a member that is given twice with the same value', () => {
    expect(parse('{"a":[1],"a":[1]}')).toEqual({ a: [1] });
  });

  it('accepts 32 levels and 1,000 values', () => {
    expect(parse(`${'['.repeat(32)}${']'.repeat(32)}`)).toBeDefined();
    expect(parse(`[${'1,'.repeat(998)}1]`)).toHaveLength(999);
  });

  it('gives no member name a meaning', () => {
    const value = parse('{"__proto__":{"x":1},"constructor":2,"toString":3}') as object;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});

describe(parseOwnJson.name, () => {
  it('reads its own output of any depth, length and size', () => {
    const deep = `${'['.repeat(100)}1e+50${']'.repeat(100)}`;
    expect(JSON.stringify(parseOwnJson(deep))).toBe(deep);
    expect(parseOwnJson(`[${'1,'.repeat(2_000)}1]`)).toHaveLength(2_001);
    expect(parseOwnJson('9007199254740993')).toBe(9_007_199_254_740_993n);
  });
});
