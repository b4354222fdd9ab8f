import { normalizeIp } from '@nestjs/throttler';

/*
 * The subject of a counter: a client id, or a prefixed string for everything else that is counted.
 * Client ids come from issued keys; addresses can be made up without limit, so stores bound how
 * many they keep. Only clients are banned.
 */
const ADDRESS_PREFIX = 'ip:';
const SEPARATE_PREFIX = 'usage:';

/**
 * The counter of a network address, or of the /64 of an IPv6 address, since a client usually
 * controls all of it.
 * @param use prefix of another counter of the address than that of failed authentications
 */
export function addressRateLimitKey(address: string, use = ''): string {
  return ADDRESS_PREFIX + use + normalizeIp(address);
}

/** The counter of a client's requests that do not consume its quota. */
export function separateRateLimitKey(client: string): string {
  return SEPARATE_PREFIX + client;
}

export function isAddress(subject: string): boolean {
  return subject.startsWith(ADDRESS_PREFIX);
}

export function isClient(subject: string): boolean {
  return !isAddress(subject) && !subject.startsWith(SEPARATE_PREFIX);
}
