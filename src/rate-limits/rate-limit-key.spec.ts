import { addressRateLimitKey } from './rate-limit-key.js';

describe(addressRateLimitKey.name, () => {
  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['fe80::1', 'fe80::2'],
  ])('counts %s and %s together', (one, other) => {
    expect(addressRateLimitKey(one)).toBe(addressRateLimitKey(other));
  });

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['203.0.113.7', '203.0.113.8'],
  ])('counts %s and %s apart', (one, other) => {
    expect(addressRateLimitKey(one)).not.toBe(addressRateLimitKey(other));
  });

  it('counts the uses of one address apart', () => {
    expect(addressRateLimitKey('::1', 'pages:')).not.toBe(addressRateLimitKey('::1'));
  });
});
