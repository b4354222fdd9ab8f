import { InvalidArgumentError } from 'commander';
import { dayCount, duration, keyName, moment, quantity, scopeList } from './arguments.js';

const DAY_MS = 86_400_000;

describe(dayCount.name, () => {
  it.each(['1', '90', '36500'])('takes %s', (text) => expect(dayCount(text)).toBe(Number(text)));

  it.each(['', '0', '-1', '1.5', '01', '36501', '1000000000000'])('refuses %j', (text) => {
    expect(() => dayCount(text)).toThrow(InvalidArgumentError);
  });
});

describe(quantity.name, () => {
  it.each([
    ['1', 1],
    ['60', 60],
    ['1000000000000', 1e12],
  ])('takes %s', (text, value) => expect(quantity(text)).toBe(value));

  it.each([
    '',
    '0',
    '-1',
    '+1',
    '01',
    '1.0',
    '1e3',
    ' 1',
    '1 ',
    'x',
    '1000000000001',
    '9'.repeat(40),
  ])('refuses %p', (text) => expect(() => quantity(text)).toThrow(InvalidArgumentError));
});

describe(keyName.name, () => {
  it.each(['Zoo', ' Zoo ', 'Tierpark Schönbrunn 🦁', 'x'.repeat(255)])('takes %p', (text) =>
    expect(keyName(text)).toBe(text),
  );

  it.each([
    ...['', ' ', '\t', 'a\nb', 'a\u001b[2Jb', 'a\u007f', 'x'.repeat(256)],
    ...['a\u0080', 'a\u009b2Jb', 'a\u009f', 'a\u2028b', 'a\u2029b'],
    ...['a\u061cb', 'a\u200eb', 'a\u200fb', 'a\u202ab', 'a\u202eb', 'a\u2066b', 'a\u2069b'],
  ])('refuses %j', (text) => expect(() => keyName(text)).toThrow(InvalidArgumentError));
});

describe(scopeList.name, () => {
  it('takes a comma list, each scope once, with blanks around', () => {
    expect(scopeList('pets:read')).toEqual(['pets:read']);
    expect(scopeList('pets:read, pets:write,pets:read')).toEqual(['pets:read', 'pets:write']);
    expect(scopeList('store-orders:read2')).toEqual(['store-orders:read2']);
  });

  it.each([
    '',
    ',',
    'pets:read,',
    'pets',
    'pets:',
    ':read',
    'Pets:Read',
    'pets:read pets:write',
    'a:b:c',
  ])('refuses %p', (text) => expect(() => scopeList(text)).toThrow(InvalidArgumentError));

  it('refuses more than a column holds', () => {
    expect(() => scopeList(Array.from({ length: 300 }, (_, n) => `a:b${n}`).join(','))).toThrow(
      InvalidArgumentError,
    );
  });
});

describe(moment.name, () => {
  it.each([
    ['2030-12-05', '2030-12-05T00:00:00.000Z'],
    ['2030-12-05T10:20Z', '2030-12-05T10:20:00.000Z'],
    ['2030-12-05T10:20:30Z', '2030-12-05T10:20:30.000Z'],
    ['2030-12-05T10:20:30.123Z', '2030-12-05T10:20:30.123Z'],
    ['2030-12-05T23:30:00-02:00', '2030-12-06T01:30:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('takes %s', (text, iso) => expect(moment(text)).toBe(Date.parse(iso)));

  it.each([
    '',
    'soon',
    '2030',
    '2030-13-01',
    '2030-02-30',
    '2027-02-29',
    '2030-12-05T10:20:30',
    '2030-12-05 10:20:30Z',
    '2030-12-05T25:00:00Z',
    '1890000000',
    '1969-12-31',
  ])('refuses %p', (text) => expect(() => moment(text)).toThrow(InvalidArgumentError));
});

describe(duration.name, () => {
  it.each([
    ['0s', 0],
    ['90s', 90_000],
    ['15m', 900_000],
    ['24h', DAY_MS],
    ['365d', 365 * DAY_MS],
  ])('takes %s', (text, value) => expect(duration(text)).toBe(value));

  it.each(['', '5', 'h', '1w', '1.5h', '-1h', '1h30m', '1 h', '1H', '366d', '999999999d'])(
    'refuses %p',
    (text) => expect(() => duration(text)).toThrow(InvalidArgumentError),
  );
});
