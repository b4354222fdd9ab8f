import { stringifyJson } from './json-text.js';

describe(stringifyJson.name, () => {
  it('writes a BigInt with all of its digits, wherever it stands', () => {
    const value = { id: 9223372036854775807n, list: [1, -9223372036854775808n, undefined] };
    expect(stringifyJson(value)).toBe(
      '{"id":9223372036854775807,"list":[1,-9223372036854775808,null]}',
    );
    expect(stringifyJson(1n)).toBe('1');
  });

  it('writes everything else as JSON.stringify does', () => {
    const value = { at: new Date(0), absent: undefined, text: '"', n: null, list: [1, 'a', {}] };
    expect(stringifyJson(value)).toBe(JSON.stringify(value));
    expect(stringifyJson({ ...value, big: 1n })).toBe(
      `${JSON.stringify(value).slice(0, -1)},"big":1}`,
    );
    expect(stringifyJson({ big: 1n, symbol: Symbol('x') })).toBe('{"big":1,"symbol":null}');
  });
});
