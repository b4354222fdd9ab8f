import { Cursor } from './cursor.js';

const LIST = ['orders'];

describe(Cursor.name, () => {
  it('is read again, as long as a text column makes it', () => {
    const keys = ['Ж'.repeat(1_000), 'x'.repeat(255)];
    const handedOut = Cursor.after(keys, LIST).toString();
    expect(Cursor.parse(handedOut)?.read(['text', 'text'], LIST)).toEqual(keys);
  });

  it('is none where it was never handed out', () => {
    for (const text of ['', 'x', 'e30', 'x'.repeat(7_001)]) {
      expect(Cursor.parse(text)?.read(['text'], LIST)).toBeUndefined();
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
    const forged = Cursor.parse(Cursor.after(keys, LIST).toString())!;
    expect(() => forged.read([kind, kind], LIST)).toThrow('cursor must come from a Link header');
  });

  it('is rejected in another list', () => {
    const cursor = Cursor.after([1], ['orders', 'sold', 7n]);
    expect(cursor.read(['number'], ['orders', 'sold', 7n])).toEqual([1]);
    for (const other of [['orders', 'sold', 8n], ['orders', 'sold'], ['pets', 'sold', 7n], []]) {
      expect(() => cursor.read(['number'], other)).toThrow('cursor must come from a Link header');
    }
  });
});
