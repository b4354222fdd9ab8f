import { Cursor } from './cursor.js';

describe(Cursor.name, () => {
  it('is read again, as long as a text column makes it', () => {
    const keys = ['Ж'.repeat(1_000), 'x'.repeat(255)];
    const handedOut = Cursor.after(keys, {}).toString();
    expect(Cursor.parse(handedOut)?.read(['text', 'text'])).toEqual(keys);
  });

  it('is none where it was never handed out', () => {
    for (const text of ['', 'x', 'e30', 'x'.repeat(7_001)]) {
      expect(Cursor.parse(text)?.read(['text'])).toBeUndefined();
    }
  });

  it.each([
    [['1', 'x'], 'int64'],
    [['x', '1'], 'int64'],
    [['9223372036854775808', '1'], 'int64'],
    [['9007199254740992', '1'], 'number'],
    [['a\u0000', 'b'], 'text'],
    [['a', '\ud800'], 'text'],
    [['c4f1f3a8-0b51-4b0e-9b0a-0d6f4f0f8f0f', 'x'], 'uuid'],
  ] as const)('rejects the forged keys %j in a list ordered by %s', (keys, kind) => {
    const forged = Cursor.parse(Cursor.after(keys, {}).toString())!;
    expect(() => forged.read([kind, kind])).toThrow('cursor must be from a Link header');
  });

  it('belongs to a filter with its values, on every page and in any order', () => {
    const cursor = Cursor.after([1], { status: 'sold', keeper: 7n });
    const others = { limit: 5, cursor, name: undefined };
    expect(cursor.belongsTo({ keeper: 7n, status: 'sold', ...others })).toBe(true);
    expect(cursor.belongsTo({ status: 'sold', keeper: 8n })).toBe(false);
    expect(cursor.belongsTo({ status: 'sold' })).toBe(false);
    expect(cursor.belongsTo({ ...others })).toBe(false);
    expect(Cursor.after([1], others).belongsTo({})).toBe(true);
  });
});
