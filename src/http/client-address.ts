import { isIP } from 'node:net';
import { normalizeIp } from '@nestjs/throttler';
import type { ApiRequest } from './request-context.js';

/**
 * The address of a caller: behind the proxies of TRUST_PROXY, the nearest address that is not a
 * proxy's.
 * @returns an IPv4 address, or the /64 of an IPv6 address, since a client usually controls all of
 *   it
 */
export function clientAddress({ ip, raw }: Pick<ApiRequest, 'ip' | 'raw'>): string {
  return normalizeIp(isIP(ip) === 0 ? (raw.socket.remoteAddress ?? 'unknown') : ip);
}
