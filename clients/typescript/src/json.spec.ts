import { readJson, writeJson } from './json.js';

describe(readJson.name, () => {
  it.each([
    '{"a":[1,-2.5e3,true,false,null,"\\u0041\\n\\"\\\\"],"b":{},"c":[]}',
    ' [ 1 , { "x" : "y" } ] ',
    '"text"',
    '-0',
    '1e400',
  ])('reads %s as JSON.parse does', (text) => expect(readJson(text)).toEqual(JSON.parse(text)));

  it('rounds no integer', () => {
    const text = '[9007199254740991,9007199254740993,-9223372036854775808,1.5]';
    const read = [9007199254740991, 9007199254740993n, -9223372036854775808n, 1.5];
    expect(readJson(text)).toEqual(read);
  });

  it('reads int64 members as bigint whatever their size, in arrays too', () => {
    const text = '{"id":7,"ids":[1,2],"other":7,"price":1.5}';
    const read = readJson(text, new Set(['id', 'ids', 'price']));
    expect(read).toEqual({ id: 7n, ids: [1n, 2n], other: 7, price: 1.5 });
  });

  it('makes no prototype of a member', () => {
    const read = readJson('{"__proto__":{"admin":true}}') as { admin?: boolean };
    expect(read.admin).toBeUndefined();
    expect(Object.keys(read)).toEqual(['__proto__']);
  });

  it.each(['', '{', '[1,]', '{"a"}', '{"a":1', '01', '1 2', 'nul', '"a\nb"', '"\\x"', "{'a':1}"])(
    'refuses %j',
    (text) => expect(() => readJson(text)).toThrow(SyntaxError),
  );
});

describe(writeJson.name, () => {
  it.each([
    { a: [1, 'ä"', null, undefined, true], b: undefined, c: { d: new Date(0) }, e: () => 1 },
    [Number.NaN, 1.5, -0],
    'text',
    null,
  ])('writes %j as JSON.stringify does', (value) =>
    expect(writeJson(value)).toBe(JSON.stringify(value)),
  );

  it('writes bigint digit by digit', () =>
    expect(writeJson({ id: 9223372036854775807n })).toBe('{"id":9223372036854775807}'));

  it('refuses a number that may have lost its last digits', () =>
    expect(() => writeJson({ id: 2 ** 53 })).toThrow(RangeError));
});
