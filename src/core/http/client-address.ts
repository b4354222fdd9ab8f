import { isIP } from 'node:net';
import type { IncomingMessage, Server } from 'node:http';
import { normalizeIp } from '@nestjs/throttler';
import type { Logger } from '../telemetry/logger.js';
import type { ApiRequest } from './request.js';

const IPV6_BITS = 128;

/**
 * The address of a caller: behind the proxies of TRUST_PROXY, the nearest address that is not a
 * proxy's.
 * @returns its shortest form, without a zone; `unknown` if the client is gone, or if a request was
 *   injected with something else
 */
export function clientAddress({ ip, raw }: Pick<ApiRequest, 'ip' | 'raw'>): string {
  const address = isIP(ip) === 0 ? (raw.socket.remoteAddress ?? '') : ip;
  if (isIP(address) === 0) return 'unknown';
  // It appends the number of bits to an IPv6 address.
  return normalizeIp(address, IPV6_BITS).replace(`/${IPV6_BITS}`, '');
}

/** Warns once if `X-Forwarded-For` arrives although no proxy is trusted. */
export function warnOfProxy(server: Server, logger: Logger): void {
  const warn = ({ headers }: IncomingMessage) => {
    if (headers['x-forwarded-for'] === undefined) return;
    server.off('request', warn);
    logger.warn(
      {},
      'X-Forwarded-For is ignored because TRUST_PROXY is off, so all clients of a proxy share one ' +
        'address. Set TRUST_PROXY to the address of the proxy',
    );
  };
  server.on('request', warn);
}
