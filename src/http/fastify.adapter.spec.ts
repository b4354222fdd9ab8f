import { isPagedResponse, nextPageUrl, PAGED } from './paged-response.js';
import { stringifyJson } from './stringify-json.js';

describe(isPagedResponse.name, () => {
  it('recognises a page, which is written as its items', () => {
    const toys = { kind: PAGED, items: [{ id: 9223372036854775807n }], next: 'c2' };
    expect(isPagedResponse(toys)).toBe(true);
    expect(stringifyJson({ toys })).toBe('{"toys":[{"id":9223372036854775807}]}');
    for (const other of [null, undefined, [], { items: [] }]) {
      expect(isPagedResponse(other)).toBe(false);
    }
  });
});

describe(nextPageUrl.name, () => {
  const page = { kind: PAGED, items: [1, 2, 3], next: 'c2' };

  it.each([
    [{ limit: '3', status: 'sold', tag: ['a', 'ä b'] }, 'status=sold&tag=a&tag=%C3%A4%20b&'],
    [{ cursor: 'c1' }, ''],
  ])('keeps the filter of %j, with an explicit limit', (query, kept) => {
    expect(nextPageUrl('https://h/v1/toys', query, page)).toBe(
      `https://h/v1/toys?${kept}limit=3&cursor=c2`,
    );
  });
});

describe(stringifyJson.name, () => {
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
