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
});
