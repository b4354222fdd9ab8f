import { parseQuery } from './query.js';

describe(parseQuery.name, () => {
  it('undoes escapes, and keeps each value of a repeated name', () => {
    expect({ ...parseQuery('a=%F0%9F%90%95+b&c=1&c=2&d') }).toEqual({
      a: '🐕 b',
      c: ['1', '2'],
      d: '',
    });
  });

  it.each(['%', '%zz=%zz', 'a=%ff', '=', '&&', 'a=b=c', '?', 'a=%c0%af', '%00'])(
    'refuses nothing, not even %p',
    (text) => {
      expect(() => parseQuery(text)).not.toThrow();
    },
  );

  it.each(['__proto__=1', 'constructor=1', '__proto__[a]=1'])(
    'takes %s for a name like any other',
    (text) => {
      const query = parseQuery(text);
      expect(Object.getPrototypeOf(Object.getPrototypeOf(query) ?? {})).toBeFalsy();
      expect(Object.keys(query)).toEqual([text.split('=')[0]]);
      expect(({} as Record<string, unknown>)['a']).toBeUndefined();
    },
  );

  it('gives equal short queries one object, which nobody can change for the others', () => {
    const query = parseQuery('limit=20&status=sold');
    expect(parseQuery('limit=20&status=sold')).toBe(query);
    expect(parseQuery('limit=20&status=pending')).not.toBe(query);
    expect(() => Object.assign(query, { limit: '1' })).toThrow(TypeError);
    expect(() => Object.assign(parseQuery(''), { limit: '1' })).toThrow(TypeError);
  });

  it('tells queries apart that are the same for people', () => {
    expect({ ...parseQuery('a=1') }).toEqual({ a: '1' });
    expect({ ...parseQuery('a=01') }).toEqual({ a: '01' });
    expect({ ...parseQuery('A=1') }).toEqual({ A: '1' });
  });

  it('remembers neither long ones nor any number of short ones', () => {
    const long = `cursor=${'x'.repeat(60)}`;
    expect(parseQuery(long)).not.toBe(parseQuery(long));
    const first = parseQuery('first');
    for (let index = 0; index < 600; index++) parseQuery(`n=${index}`);
    expect(parseQuery('first')).not.toBe(first);
    expect({ ...parseQuery('first') }).toEqual({ ...first });
  });
});
