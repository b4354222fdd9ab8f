import type { IncomingMessage } from 'node:http';
import { clientAddress } from './client-address.js';

describe(clientAddress.name, () => {
  const addressOf = (ip: string | undefined, remoteAddress = ip) => {
    const raw = { socket: { remoteAddress } } as IncomingMessage;
    return clientAddress({ ip: ip!, raw });
  };

  it.each([
    ['2001:0DB8:0001:0002::0009', '2001:db8:1:2::9'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
  ])('formats %s as %s', (ip, address) => {
    expect(addressOf(ip)).toBe(address);
  });

  it('is unknown if the client is gone', () => {
    expect(addressOf(undefined)).toBe('unknown');
  });

  it('is unknown if a request is injected with something else', () => {
    expect(addressOf('psk_secret')).toBe('unknown');
  });

  it.each(['unknown', '', '999.1.1.1', '203.0.113.9:80', '<script>', 'x'.repeat(9_000)])(
    'is the address of the proxy if the proxy sends %p, which is no address',
    (garbage) => {
      expect(addressOf(garbage, '10.0.0.1')).toBe('10.0.0.1');
    },
  );
});
