import { normalizeIp } from '@nestjs/throttler';

/*
 * A rate-limit key is what a counter belongs to: a client id, or a prefixed string for everything
 * else that is counted. Client ids come from issued keys; addresses can be made up without limit,
 * so stores bound how many they keep. Only clients are banned.
 */
const ADDRESS_PREFIX = 'ip:';
const SEPARATE_PREFIX = 'usage:';

/**
 * The counter of a network address, or of the /64 of an IPv6 address, since a client usually
 * controls all of it.
 * @param use prefix; default: failed authentications
 */
export function addressRateLimitKey(address: string, use = ''): string {
  return ADDRESS_PREFIX + use + normalizeIp(address);
}

/** The counter of a client's requests that do not consume its quota. */
export function separateRateLimitKey(client: string): string {
  return SEPARATE_PREFIX + client;
}

export function isAddress(key: string): boolean {
  return key.startsWith(ADDRESS_PREFIX);
}

export function isClient(key: string): boolean {
  return !isAddress(key) && !key.startsWith(SEPARATE_PREFIX);
}
