import type { IncomingMessage } from 'node:http';
import { loadConfig } from '../config/config.js';
import { ClientAddress } from './client-address.js';

describe(ClientAddress.name, () => {
  const addressOf = (remoteAddress: string | undefined, forwardedFor?: string, trust = 'false') => {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
    const config = loadConfig({ TRUST_PROXY: trust });
    return new ClientAddress(config).of({
      socket: { remoteAddress },
      headers,
    } as unknown as IncomingMessage);
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
  ])('takes %s and %s for two', (one, other) => {
    expect(addressOf(one)).not.toBe(addressOf(other));
  });

  it('has a name for a client that has gone already', () => {
    expect(addressOf(undefined)).toBe('unknown');
  });

  const PROXIES = '10.0.0.0/8,fd00::/8';
  it.each([
    ['nobody, where no proxy is trusted', '10.0.0.1', '203.0.113.9', 'false', '10.0.0.1'],
    ['nobody but a trusted proxy', '192.0.2.1', '203.0.113.9', PROXIES, '192.0.2.1'],
    ['a trusted proxy', '10.0.0.1', '203.0.113.9', PROXIES, '203.0.113.9'],
    ['an IPv4-mapped one', '::ffff:10.0.0.1', '203.0.113.9', PROXIES, '203.0.113.9'],
    ['a chain of them', '10.0.0.1', '203.0.113.9, 10.2.2.2', PROXIES, '203.0.113.9'],
    ['not the client itself', '10.0.0.1', '8.8.8.8, 203.0.113.9', PROXIES, '203.0.113.9'],
    ['a proxy that says nothing', '10.0.0.1', undefined, PROXIES, '10.0.0.1'],
    ['one that names ports', '10.0.0.1', '203.0.113.9:4711', PROXIES, '203.0.113.9'],
    ['one that names ports of IPv6', 'fd00::1', '[2001:DB8::9]:4711', PROXIES, '2001:db8::/64'],
    ['one that names IPv6 in brackets', 'fd00::1', '[2001:db8::9]', PROXIES, '2001:db8::/64'],
    ['a chain with ports', '10.0.0.1', '203.0.113.9:1, [fd00::2]:2', PROXIES, '203.0.113.9'],
  ])('believes %s', (_whom, remote, forwarded, trust, address) => {
    expect(addressOf(remote, forwarded, trust)).toBe(address);
  });

  it.each([
    'unknown',
    '',
    ',',
    '999.1.1.1',
    '999.1.1.1:80',
    '203.0.113.9:',
    '203.0.113.9:http',
    '[203.0.113.9:80',
    '2001:db8::9]:80',
    '[]:80',
    '203.0.113.9, <script>',
    'x'.repeat(9_000),
  ])('counts what is no address, %p, against the proxy that sent it', (garbage) => {
    expect(addressOf('10.0.0.1', garbage, PROXIES)).toBe('10.0.0.1');
  });
});
