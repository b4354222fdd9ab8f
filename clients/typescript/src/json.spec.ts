import { readJson, toJSON } from './json.js';

describe(readJson.name, () => {
  it.each([
    '{"a":[1,-2.5e3,true,false,null,"\\u0041\\n\\"\\\\"],"b":{},"c":[]}',
    ' [ 1 , { "x" : "y" } ] ',
    '"text"',
    '-0',
    '1e400',
  ])('parses %s like JSON.parse', (text) => expect(readJson(text)).toEqual(JSON.parse(text)));

  it('reads times as Date, also in arrays, and leaves null and other texts', () => {
    const text =
      '{"at":"2027-01-02T03:04:05.678Z","ends":[null,"2027-01-02T00:00:00Z"],"name":"at"}';
    const read = readJson(text, new Set(), new Set(['at', 'ends']));
    expect(read).toEqual({
      at: new Date('2027-01-02T03:04:05.678Z'),
      ends: [null, new Date('2027-01-02T00:00:00Z')],
      name: 'at',
    });
  });

  it('does not round integers', () => {
    const text = '[9007199254740991,9007199254740993,-9223372036854775808,1.5]';
    const read = [9007199254740991, 9007199254740993n, -9223372036854775808n, 1.5];
    expect(readJson(text)).toEqual(read);
  });

  it('parses int64 members as bigint, also in arrays', () => {
    const text = '{"id":7,"ids":[1,2],"other":7,"price":1.5}';
    const read = readJson(text, new Set(['id', 'ids', 'price']));
    expect(read).toEqual({ id: 7n, ids: [1n, 2n], other: 7, price: 1.5 });
  });

  it('does not set the prototype', () => {
    const read = readJson('{"__proto__":{"admin":true}}') as { admin?: boolean };
    expect(read.admin).toBeUndefined();
    expect(Object.keys(read)).toEqual(['__proto__']);
  });

  it.each(['', '{', '[1,]', '{"a"}', '{"a":1', '01', '1 2', 'nul', '"a\nb"', '"\\x"', "{'a':1}"])(
    'rejects %j',
    (text) => expect(() => readJson(text)).toThrow(SyntaxError),
  );
});

describe('JSON.stringify of a parsed value', () => {
  it('neither throws nor rounds', () => {
    const text =
      '{"id":7,"big":[9223372036854775807,1.5],"small":{"categoryId":-9007199254740991}}';
    const value = readJson(text, new Set(['id', 'categoryId']));
    expect(JSON.stringify(value)).toBe(
      text.replace('9223372036854775807', '"9223372036854775807"'),
    );
    expect(toJSON(value)).toBe(text);
    expect({ ...(value as object) }).not.toHaveProperty('toJSON');
  });

  it('leaves a member named toJSON alone', () =>
    expect(toJSON(readJson('{"toJSON":1,"id":9223372036854775807}'))).toBe(
      '{"toJSON":1,"id":9223372036854775807}',
    ));
});

describe(toJSON.name, () => {
  it.each([
    { a: [1, 'ä"', null, undefined, true], b: undefined, c: { d: new Date(0) }, e: () => 1 },
    [Number.NaN, 1.5, -0],
    'text',
    null,
  ])('writes %j like JSON.stringify', (value) => expect(toJSON(value)).toBe(JSON.stringify(value)));

  it('writes a bigint exactly', () =>
    expect(toJSON({ id: 9223372036854775807n })).toBe('{"id":9223372036854775807}'));

  it('rejects a number that may already be rounded', () =>
    expect(() => toJSON({ id: 2 ** 53 })).toThrow(RangeError));

  it('rejects a value without a JSON form', () =>
    expect(() => toJSON(undefined)).toThrow('A value of type undefined has no JSON form'));
});
