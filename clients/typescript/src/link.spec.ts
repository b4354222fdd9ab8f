import { nextCursor, readLinks } from './link.js';

describe(readLinks.name, () => {
  it('tells links by their relations', () => {
    const links = readLinks(
      '<https://a/1,2>; title="x, y"; rel="next last", </b>;rel=prev , <c>; REL="deprecation"',
    );
    expect([...links]).toEqual([
      ['next', 'https://a/1,2'],
      ['last', 'https://a/1,2'],
      ['prev', '/b'],
      ['deprecation', 'c'],
    ]);
  });

  it.each([null, '', 'nothing', '<a>'])('finds none in %s', (field) =>
    expect(readLinks(field).size).toBe(0),
  );
});

describe(nextCursor.name, () => {
  it('takes the cursor, and nothing else of the address', () => {
    const link = '<https://elsewhere.example/v1/pets?limit=2&cursor=a%3Db>; rel="next"';
    expect(nextCursor(new Headers({ link }))).toBe('a=b');
  });

  it('ends where no page follows', () => {
    expect(nextCursor(new Headers())).toBeUndefined();
    expect(nextCursor(new Headers({ link: '</v1/pets>; rel="next"' }))).toBeUndefined();
  });
});
