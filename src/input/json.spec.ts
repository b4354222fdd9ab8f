import { stringifyJson } from '../http/answers.js';
import {
  JsonDuplicateError,
  JsonLimitError,
  JsonSyntaxError,
  parseJson,
  parseOwnJson,
} from './json.js';

describe(parseJson.name, () => {
  it.each<[string, unknown]>([
    ['0', 0],
    ['-0', 0],
    ['7', 7],
    ['-7', -7],
    ['1.0', 1],
    ['10e-1', 1],
    ['1e2', 100],
    ['0e400', 0],
    ['0.000', 0],
    ['1.5', 1.5],
    ['-0.25', -0.25],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775808', 9223372036854775808n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775807.0', 9223372036854775807n],
    ['9.223372036854775807e18', 9223372036854775807n],
    ['92233720368547758070e-1', 9223372036854775807n],
    ['1e400', Infinity],
    ['-1e400', -Infinity],
    ['1e999999999', Infinity],
    ['1e-999999999', NaN],
    ['1.00000000000000000001', NaN],
    ['4503599627370497.00000000001', NaN],
  ])('reads the number %s as %p', (text, expected) => {
    expect(parseJson(text)).toBe(expected);
  });

  it.each<[string, unknown]>([
    ['null', null],
    [' true ', true],
    ['false', false],
    ['"a\\n\\u0041\\"\\\\"', 'a\nA"\\'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\u2028\u007f"', '\u2028\u007f'],
    ['[]', []],
    ['[1,[2,"3"],{}]', [1, [2, '3'], {}]],
    ['\t\r\n{"a" : 1 , "b":[ ]}', { a: 1, b: [] }],
  ])('reads %p', (text, expected) => {
    expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(expected));
  });

  it.each([
    '',
    ' ',
    'nul',
    'True',
    'NaN',
    'Infinity',
    'undefined',
    '01',
    '+1',
    '1.',
    '.5',
    '-',
    '1e',
    '1e+',
    '0x10',
    '1_000',
    '--1',
    "'a'",
    '"a',
    '"\\x"',
    '"\\u12"',
    '"\\',
    '"\n"',
    '"\u0000"',
    '[1,]',
    '[1 2]',
    '[',
    '[1',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '{"a":1 "b":2}',
    '{} {}',
    '1 1',
    '// c\n1',
    '\ufeff1',
    '\u00a01',
  ])('refuses %p', (text) => {
    expect(() => parseJson(text)).toThrow(JsonSyntaxError);
  });

  it('agrees with JSON.parse on what is JSON, over 20,000 random mutations', () => {
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
    for (let round = 0; round < 20_000; round++) {
      let text = seeds[round % seeds.length]!;
      for (let change = 0; change <= random(3); change++) {
        const at = random(text.length);
        text = text.slice(0, at) + alphabet[random(alphabet.length)]! + text.slice(at + random(2));
      }
      const ours = attempt(() => stringifyJson(parseJson(text)));
      const theirs = attempt(() => JSON.stringify(JSON.parse(text)));
      if (ours === 'duplicate') continue;
      // A number beyond 2^53 is where the two differ by design.
      if (/\d{16}|[eE]\d{2}/.test(text)) continue;
      expect({ text, json: ours?.replaceAll('-0', '0') }).toEqual({
        text,
        json: theirs?.replaceAll('-0', '0'),
      });
    }
  });

  it.each(['{"name":"Rex\\', '"\\', '"Rex'])('says that %s ends too early', (text) => {
    expect(() => parseJson(text)).toThrow(new JsonSyntaxError('unexpected end'));
  });

  it('refuses a member given twice, at any depth', () => {
    expect(() => parseJson('{"a":1,"a":1}')).toThrow(new JsonDuplicateError(['a'], { a: 1 }));
    expect(() => parseJson('[{"b":{"\\u0061":1,"a":2}}]')).toThrow(JsonDuplicateError);
    expect(() => parseJson('{"a":1,"b":[{"c":1,"c":2,"c":3}],"a":2}')).toThrow(
      new JsonDuplicateError(['c', 'a'], { a: 2, b: [{ c: 3 }] }),
    );
  });

  it.each(['{"a":1,"a":2', '['.repeat(33), `[${'1,'.repeat(1_000)}`, `[${'1,'.repeat(1_000)}1]x`])(
    'takes for no JSON what is none, whatever else is wrong with it: %#',
    (text) => expect(() => parseJson(text)).toThrow(JsonSyntaxError),
  );

  it('gives no member name a meaning', () => {
    const value = parseJson('{"__proto__":{"x":1},"constructor":2,"toString":3}') as object;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('refuses a depth, and a number of values, that no request needs', () => {
    expect(() => parseJson(`${'['.repeat(30_000)}${']'.repeat(30_000)}`)).toThrow(JsonLimitError);
    expect(() => parseJson(`[${'1,'.repeat(1_000)}1]`)).toThrow(JsonLimitError);
    expect(parseJson(`${'['.repeat(32)}${']'.repeat(32)}`)).toBeDefined();
  });

  it('reads a 64 KiB number in a time that is no square of its length', () => {
    const zeros = `1${'0'.repeat(65_000)}1`;
    expect(parseJson(zeros)).toBe(Infinity);
    expect(parseJson(`0.${zeros}`)).toBeCloseTo(0.1);
  });
});

function attempt(work: () => string): string | undefined {
  try {
    return work();
  } catch (error) {
    return error instanceof JsonDuplicateError ? 'duplicate' : undefined;
  }
}

describe(parseOwnJson.name, () => {
  it('reads what the service has written, however deep, long and large', () => {
    const deep = `${'['.repeat(100)}1e+50${']'.repeat(100)}`;
    expect(JSON.stringify(parseOwnJson(deep))).toBe(deep);
    const long = JSON.stringify(Array.from({ length: 2_000 }, (_none, index) => index));
    expect(parseOwnJson(long)).toHaveLength(2_000);
    expect(parseOwnJson('9007199254740993')).toBe(9_007_199_254_740_993n);
  });
});
