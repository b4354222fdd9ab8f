import { instanceToPlain } from 'class-transformer';
import { isPagedResponse, nextPageUrl, PagedResponse } from './paged-response.js';
import { stringifyJson } from './stringify-json.js';

class Toys extends PagedResponse {
  readonly items = [{ id: 9223372036854775807n }];
  readonly next = { toString: () => 'c2' };
}

describe(PagedResponse.name, () => {
  it('is written as its items, also inside of another object', () => {
    expect(stringifyJson({ toys: new Toys() })).toBe('{"toys":[{"id":9223372036854775807}]}');
    expect(new Toys().toJSON()).toEqual([{ id: 9223372036854775807n }]);
  });

  it('is recognised in a copy', () => {
    expect(isPagedResponse(new Toys())).toBe(true);
    expect(isPagedResponse(instanceToPlain(new Toys()))).toBe(true);
    for (const other of [null, undefined, [], { items: [] }]) {
      expect(isPagedResponse(other)).toBe(false);
    }
  });

  it('has a next page at the same address, with its cursor and the limit', () => {
    const query = { status: 'sold', tag: ['a', 'b'], cursor: 'c1' };
    expect(nextPageUrl('https://h/v1/toys', query, new Toys())).toBe(
      'https://h/v1/toys?status=sold&tag=a&tag=b&limit=1&cursor=c2',
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
