import type { IncomingMessage } from 'node:http';
import { clientAddress } from './client-address.js';

describe(clientAddress.name, () => {
  const addressOf = (ip: string | undefined, remoteAddress = ip) => {
    const raw = { socket: { remoteAddress } } as IncomingMessage;
    return clientAddress({ ip: ip!, raw });
  };

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['2001:db8:1:2::1', '2001:0DB8:0001:0002::9'],
    ['fe80::1', 'fe80::1%eth0'],
    ['203.0.113.7', '::ffff:203.0.113.7'],
    ['203.0.113.7', '::ffff:cb00:7107'],
  ])('takes %s and %s for one client', (one, other) => {
    expect(addressOf(one)).toBe(addressOf(other));
  });

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['203.0.113.7', '203.0.113.8'],
    ['::ffff:203.0.113.7', '::ffff:203.0.113.8'],
  ])('takes %s and %s for two clients', (one, other) => {
    expect(addressOf(one)).not.toBe(addressOf(other));
  });

  it('is unknown if the client is gone', () => {
    expect(addressOf(undefined)).toBe('unknown');
  });

  it.each(['unknown', '', '999.1.1.1', '203.0.113.9:80', '<script>', 'x'.repeat(9_000)])(
    'is the address of the proxy if the proxy sends %p, which is no address',
    (garbage) => {
      expect(addressOf(garbage, '10.0.0.1')).toBe('10.0.0.1');
    },
  );
});
