import { instanceToPlain } from 'class-transformer';
import { stringifyJson } from '../http/stringify-json.js';
import { Cursor } from './cursor.js';
import { Page, PageQuery } from './page.js';

interface Item {
  id: number;
}
const parse = (text: string): Item => JSON.parse(text) as Item;
const queryOf = (limit: number): PageQuery => Object.assign(new PageQuery(), { limit });
const page = (...ids: number[]): Page<Item> =>
  new Page({ texts: ids.map((id) => `{"id":${id}}`), parse }, 'next');

describe(Page.name, () => {
  it('is sent as the texts of the database', () => {
    expect(stringifyJson(page(1, 2))).toBe('[{"id":1},{"id":2}]');
    expect(page(1, 2).size).toBe(2);
    expect(stringifyJson(page())).toBe('[]');
  });

  it('is sent as its items once they were used, so that an interceptor may change them', () => {
    const found = page(1, 2);
    found.items[0]!.id = 7;
    expect(stringifyJson(found)).toBe('[{"id":7},{"id":2}]');
  });

  it('is still a page after ClassSerializerInterceptor has copied it, and an array as JSON', () => {
    const copy = instanceToPlain(page(1));
    expect(stringifyJson(copy)).toBe('[{"id":1}]');
    expect(copy).toMatchObject({ next: 'next', size: 1 });
    expect(JSON.stringify({ found: page(1) })).toBe('{"found":[{"id":1}]}');
  });

  it('has no next page without a row behind it', () => {
    const rows = [{ id: 1 }, { id: 2 }];
    expect(Page.of(rows, queryOf(2), ({ id }) => id)).toMatchObject({
      items: rows,
      next: undefined,
    });
    expect(Page.of(rows, queryOf(1), ({ id }) => id).items).toEqual([{ id: 1 }]);
  });

  it('has keys that are numbers, bigints or strings', () => {
    const rows = [
      { id: 1, at: 'a' },
      { id: 2, at: 'b' },
    ];
    const after = (keyOf: (row: (typeof rows)[0]) => number | bigint | (number | string)[]) =>
      queryAfter(Page.of(rows, queryOf(1), keyOf).next!);
    expect(after(({ id }) => id).after('number')).toBe(1);
    expect(after(({ id }) => BigInt(id)).after('int64')).toBe(1n);
    expect(after(({ id, at }) => [at, id]).after('text', 'number')).toEqual(['a', 1]);
  });
});

const queryAfter = (cursor: string, query = new PageQuery()): PageQuery =>
  Object.assign(query, { cursor: Cursor.parse(cursor) });

describe(PageQuery.name, () => {
  class ToysQuery extends PageQuery {
    kind?: string;
    shop?: bigint;
  }
  const of = (filter: Partial<ToysQuery>) => Object.assign(new ToysQuery(), filter);
  const cursor = Page.of([7, 8], of({ limit: 1, kind: 'ball', shop: 7n }), (id) => id).next!;

  it('has no key on the first page', () => {
    expect(new PageQuery().after('int64')).toBeUndefined();
    expect(new PageQuery().after('text', 'int64')).toBeUndefined();
  });

  it('accepts a cursor with the same filter, in any order and with another limit', () => {
    const same = of({ shop: 7n, kind: 'ball', limit: 5 });
    expect(queryAfter(cursor, same).after('int64')).toBe(7n);
  });

  it.each([
    of({ kind: 'ball', shop: 8n }),
    of({ kind: 'ball' }),
    of({}),
    Object.assign(new PageQuery(), { kind: 'ball', shop: 7n }),
  ])('rejects the cursor of another list: %j', (other) => {
    expect(() => queryAfter(cursor, other).after('int64')).toThrow('cursor must come from');
  });
});
