import { addressRateLimitKey } from './rate-limit-key.js';

describe(addressRateLimitKey.name, () => {
  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['fe80::1', 'fe80::2'],
  ])('uses one counter for %s and %s', (one, other) => {
    expect(addressRateLimitKey(one)).toBe(addressRateLimitKey(other));
  });

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['203.0.113.7', '203.0.113.8'],
  ])('uses two counters for %s and %s', (one, other) => {
    expect(addressRateLimitKey(one)).not.toBe(addressRateLimitKey(other));
  });

  it('uses a counter for each use of an address', () => {
    expect(addressRateLimitKey('::1', 'pages:')).not.toBe(addressRateLimitKey('::1'));
  });
});
