import { nextCursor, readLinks } from './link.js';

describe(readLinks.name, () => {
  it('maps relation types to targets', () => {
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
  ])('reads no relation from another parameter: %s', (parameters, relations) => {
    const links = readLinks(`<a>; ${parameters}`);
    expect([...links]).toEqual(relations.map((rel) => [rel, 'a']));
  });

  it.each([null, '', 'nothing', '<a>', '; rel=next', '<a', '<a>, ; rel=next'])(
    'finds none in %s',
    (field) => expect(readLinks(field).size).toBe(0),
  );
});

describe(nextCursor.name, () => {
  it('returns only the cursor of the link', () => {
    const link = '<https://elsewhere.example/v1/pets?limit=2&cursor=a%3Db>; rel="next"';
    expect(nextCursor(new Headers({ link }))).toBe('a=b');
  });

  it('returns undefined on the last page', () => {
    expect(nextCursor(new Headers())).toBeUndefined();
    expect(nextCursor(new Headers({ link: '</v1/pets>; rel="next"' }))).toBeUndefined();
  });
});
