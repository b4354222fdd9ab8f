import { PAGE, stringifyJson } from './stringify-json.js';

describe(stringifyJson.name, () => {
  it('writes a page as its items, and a copy of one', () => {
    const toys = { kind: PAGE, items: [{ id: 9223372036854775807n }] };
    expect(stringifyJson({ toys })).toBe('{"toys":[{"id":9223372036854775807}]}');
    expect(stringifyJson({ ...toys, json: '[1]' })).toBe('[1]');
  });

  it('writes every digit of a bigint, at any depth', () => {
    expect(stringifyJson({ id: 9223372036854775807n, list: [1n, { deep: -1n }] })).toBe(
      '{"id":9223372036854775807,"list":[1,{"deep":-1}]}',
    );
  });

  it('writes everything else as JSON.stringify does', () => {
    const value = {
      text: 'ä"\n\u2028',
      date: new Date(0),
      none: undefined,
      nil: null,
      run: () => 1,
      number: 1.5e300,
      infinite: Infinity,
      list: [undefined, Symbol('s'), NaN],
      own: { toJSON: () => ({ x: 1 }) },
    };
    expect(stringifyJson(value)).toBe(JSON.stringify(value));
  });
});
