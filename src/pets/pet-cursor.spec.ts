import { decodeCursor, PetCursor } from './pet-cursor.js';

describe(PetCursor.name, () => {
  it.each([
    [undefined, 1n],
    ['available', 20n],
    ['pending', 9007199254740993n],
    ['sold', 9223372036854775807n],
  ] as const)('comes back as it was: %s after %s', (status, after) => {
    const text = new PetCursor(status, after).toString();
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodeCursor(text)).toEqual(new PetCursor(status, after));
  });

  it.each([
    ['no base64url', '???'],
    ['padding', `${new PetCursor(undefined, 12n).toString()}=`],
    ['other bits in the last character', 'OjF'],
    ['a number beyond int64', Buffer.from(':9223372036854775808').toString('base64url')],
    ['a leading zero', Buffer.from(':01').toString('base64url')],
    ['zero', Buffer.from(':0').toString('base64url')],
    ['another status', Buffer.from('gone:1').toString('base64url')],
    ['no separator', Buffer.from('sold').toString('base64url')],
    ['more after it', Buffer.from('sold:1 ').toString('base64url')],
    ['nothing', ''],
  ])('is refused with %s', (_what, text) => {
    expect(decodeCursor(text)).toBe(text);
  });

  it('takes only a string for one', () => {
    expect(decodeCursor(undefined)).toBeUndefined();
    expect(decodeCursor(7)).toBe(7);
  });
});
