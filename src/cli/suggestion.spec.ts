import { closest } from './suggestion.js';

describe(closest.name, () => {
  const names = ['serve', 'migrate', 'seed', 'keys', 'openapi'];

  it.each([
    ['kyes', 'keys'],
    ['key', 'keys'],
    ['sreve', 'serve'],
    ['migarte', 'migrate'],
    ['seeed', 'seed'],
  ])('takes %s for %s', (word, name) => expect(closest(word, names)).toBe(name));

  it.each(['', 'x', 'nope', 'revoke', 'constructor'])('has no idea what %p is', (word) =>
    expect(closest(word, names)).toBeUndefined(),
  );
});
