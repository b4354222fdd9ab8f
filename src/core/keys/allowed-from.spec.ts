import { allowListOf, isAllowed, parseAddresses } from './allowed-from.js';

describe(parseAddresses.name, () => {
  it.each([
    '203.0.113.7',
    '203.0.113.7/32',
    '203.0.113.0/24',
    '0.0.0.0/0',
    '2001:DB8:0:0::1',
    '2001:db8::/32',
    '::/0',
    '::ffff:203.0.113.7',
    '::FFFF:cb00:7107',
    '::ffff:10.0.0.0/104',
    '::ffff:0:0/96',
  ])('keeps %s as it was written, once', (entry) => {
    expect(parseAddresses([entry, entry])).toEqual([entry]);
  });

  it.each([
    '',
    ' ',
    'any',
    'localhost',
    '203.0.113',
    '203.0.113.256',
    '01.2.3.4',
    '203.0.113.7 ',
    '203.0.113.7/33',
    '203.0.113.7/',
    '203.0.113.7/08',
    '203.0.113.7/-1',
    '203.0.113.7/24/8',
    '203.0.113.0/255.255.255.0',
    '203.0.113.7:443',
    '[2001:db8::1]',
    '2001:db8::1/129',
    '::ffff:10.0.0.0/8',
    '::FFFF:a00:0/95',
    'fe80::1%eth0',
    7,
    null,
    ['10.0.0.1'],
  ])('rejects a list with %j', (entry) => {
    expect(parseAddresses(['203.0.113.7', entry])).toBeUndefined();
  });

  it('accepts at most 50 entries', () => {
    const entries = Array.from({ length: 51 }, (_, index) => `10.0.0.${index}`);
    expect(parseAddresses(entries)).toBeUndefined();
    expect(parseAddresses(entries.slice(1))).toHaveLength(50);
    expect(parseAddresses([])).toEqual([]);
  });
});

describe(isAllowed.name, () => {
  it.each([
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '::ffff:203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.7', '2001:db8::1', false],
    ['203.0.113.64/26', '203.0.113.63', false],
    ['203.0.113.64/26', '203.0.113.64', true],
    ['203.0.113.64/26', '203.0.113.127', true],
    ['203.0.113.64/26', '203.0.113.128', false],
    ['203.0.113.77/26', '203.0.113.64', true],
    ['0.0.0.0/0', '198.51.100.1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['2001:db8::/33', '2001:db8:7fff::1', true],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['2001:db8::1', '2001:db8::1', true],
    ['2001:db8::1', '2001:db8::2', false],
    ['::ffff:203.0.113.7', '203.0.113.7', true],
    ['::FFFF:cb00:7107', '203.0.113.7', true],
    ['::ffff:cb00:7107', '203.0.113.8', false],
    ['::ffff:10.0.0.0/104', '10.255.0.1', true],
    ['::ffff:10.0.0.0/104', '11.0.0.1', false],
    ['10.0.0.1 2001:db8::/32', '2001:db8::5', true],
    ['10.0.0.1 2001:db8::/32', '10.0.0.1', true],
    ['0.0.0.0/0 ::/0', 'unknown', false],
  ])('a list of %s admits %s: %s', (stored, address, expected) => {
    expect(isAllowed(allowListOf(stored)!, address)).toBe(expected);
  });

  it.each([' ', '10.0.0.1 nonsense', '10.0.0.1,10.0.0.2', '["10.0.0.1"]', '10.0.0.1  10.0.0.2'])(
    'a stored list that cannot be read admits nobody: %j',
    (stored) => {
      const list = allowListOf(stored)!;
      for (const address of ['10.0.0.1', '10.0.0.2', '::1']) {
        expect(isAllowed(list, address)).toBe(false);
      }
    },
  );

  it('has no list if every address is allowed', () => {
    expect(allowListOf('')).toBeUndefined();
  });
});
