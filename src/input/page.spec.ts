import { instanceToPlain } from 'class-transformer';
import { stringifyJson } from '../http/stringify-json.js';
import { Cursor } from './cursor.js';
import { Page, PageQuery } from './page.js';

interface Item {
  id: number;
}
const parse = (text: string): Item => JSON.parse(text) as Item;
const queryOf = (limit: number): PageQuery => Object.assign(new PageQuery(), { limit });
const page = (ids: number[], limit: number): Page<Item> => {
  const texts = ids.map((id) => `{"id":${id}}`);
  return Page.ofJson(texts, queryOf(limit), parse, ({ id }) => id);
};

describe(Page.name, () => {
  it('is sent as the texts of the database, without the row behind the page', () => {
    const found = page([1, 2, 3], 2);
    expect(stringifyJson(found)).toBe('[{"id":1},{"id":2}]');
    expect(found.size).toBe(2);
    expect(Cursor.parse(found.next!)?.read(['number'])).toEqual([2]);
    expect(page([1, 2], 2).next).toBeUndefined();
    expect(stringifyJson(page([], 2))).toBe('[]');
  });

  it('is sent as its items once they were used, so that an interceptor may change them', () => {
    const found = page([1, 2], 2);
    found.items[0]!.id = 7;
    expect(stringifyJson(found)).toBe('[{"id":7},{"id":2}]');
  });

  it('is still a page after ClassSerializerInterceptor has copied it, and an array as JSON', () => {
    const found = page([1, 2], 1);
    expect(stringifyJson(instanceToPlain(found))).toBe('[{"id":1}]');
    expect(JSON.stringify({ found })).toBe('{"found":[{"id":1}]}');
  });

  it('has keys that are numbers, bigints or strings', () => {
    const rows = [
      { id: 1, at: 'a' },
      { id: 2, at: 'b' },
    ];
    const of = (keyOf: (row: (typeof rows)[0]) => number | bigint | (number | string)[]) =>
      Cursor.parse(Page.of(rows, queryOf(1), keyOf).next!)!;
    expect(of(({ id }) => id).read(['number'])).toEqual([1]);
    expect(of(({ id }) => BigInt(id)).read(['int64'])).toEqual([1n]);
    expect(of(({ id, at }) => [at, id]).read(['text', 'number'])).toEqual(['a', 1]);
  });
});

describe(PageQuery.name, () => {
  const queryAfter = (...keys: (bigint | string)[]) =>
    Object.assign(new PageQuery(), { cursor: Cursor.after(keys, {}) });

  it('has the key after which the page starts, or all of several, and none at first', () => {
    expect(queryAfter(7n).after('int64')).toBe(7n);
    expect(queryAfter('a', 7n).after('text', 'int64')).toEqual(['a', 7n]);
    expect(new PageQuery().after('int64')).toBeUndefined();
    expect(new PageQuery().after('text', 'int64')).toBeUndefined();
  });
});
