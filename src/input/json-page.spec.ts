import { instanceToPlain } from 'class-transformer';
import { isPagedResponse } from '../http/paged-response.js';
import { Cursor } from './cursor.js';
import { JsonPage } from './json-page.js';
import { Page, PageQuery } from './page.js';

interface Item {
  id: number;
}
const parse = (text: string) => JSON.parse(text) as Item;
const page = (ids: number[], limit: number) => {
  const texts = ids.map((id) => `{"id":${id}}`);
  const query = Object.assign(new PageQuery(), { limit });
  return new JsonPage(
    Page.of(texts, query, (text) => BigInt(parse(text).id)),
    parse,
  );
};

describe(JsonPage.name, () => {
  it('is sent as the texts of the database, without the row behind the page', () => {
    const found = page([1, 2, 3], 2);
    expect(found.json).toBe('[{"id":1},{"id":2}]');
    expect(Cursor.parse(found.next!)?.read(['int64'])).toEqual([2n]);
    expect(page([1, 2], 2).next).toBeUndefined();
    expect(page([], 2).json).toBe('[]');
  });

  it('is sent as its items once they were used, so that an interceptor may change them', () => {
    const found = page([1, 2], 2);
    found.items[0]!.id = 7;
    expect(found.json).toBeUndefined();
    expect(found.items).toEqual([{ id: 7 }, { id: 2 }]);
    expect({ ...page([1], 2) }).toMatchObject({ items: [{ id: 1 }] });
  });

  it('is still a page after ClassSerializerInterceptor has copied it, and an array as JSON', () => {
    const found = page([1, 2], 1);
    expect(isPagedResponse(instanceToPlain(found))).toBe(true);
    expect(JSON.stringify({ found })).toBe('{"found":[{"id":1}]}');
  });
});
