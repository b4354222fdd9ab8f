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

  it.each([
    ['title="a, b; rel=\\"next\\""; rel="last next"', ['last', 'next']],
    ['foo="; rel=next"', []],
    ['foo="; rel=next"; rel=prev', ['prev']],
    ['foo=", <c>; rel=next"; rel=prev', ['prev']],
    ['rel="prev"; rel="next"', ['prev']],
    ['foo; rel = "ne\\xt" ; bar', ['next']],
    ['rel="next', ['next']],
    ['rel=', []],
  ])('takes no other parameter for a relation: %s', (parameters, relations) => {
    const links = readLinks(`<a>; ${parameters}`);
    expect([...links]).toEqual(relations.map((rel) => [rel, 'a']));
  });

  it.each([null, '', 'nothing', '<a>', '; rel=next', '<a', '<a>, ; rel=next'])(
    'finds none in %s',
    (field) => expect(readLinks(field).size).toBe(0),
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
