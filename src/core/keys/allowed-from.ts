import { BlockList, isIP } from 'node:net';

/** Addresses and ranges of a key. Each request of the key is compared with all of them. */
export const MAX_ADDRESSES = 50;

/** Completes "NAME must be ..." */
export const ADDRESS_LIST =
  `a list of at most ${MAX_ADDRESSES} IP addresses or CIDR ranges ` + '(IPv4-mapped: /96 to /128)';

/** An address without a zone, and the length of its prefix if it is a range. */
const ENTRY = /^([\da-f:.]+)(?:\/(0|[1-9]\d{0,2}))?$/i;

/** IPv4-mapped IPv6 addresses. A range of them with a shorter prefix would admit all of IPv4. */
const MAPPED = new BlockList();
const MAPPED_BITS = 96;
MAPPED.addSubnet('::ffff:0:0', MAPPED_BITS, 'ipv6');

/**
 * Parses IP addresses and CIDR ranges.
 * @returns them as they were written, without repetitions; undefined if one is invalid, or if there
 *   are more than 50
 */
export function parseAddresses(entries: readonly unknown[]): string[] | undefined {
  const isValid = entries.length <= MAX_ADDRESSES && entries.every((entry) => rangeOf(entry));
  return isValid ? [...new Set(entries as string[])] : undefined;
}

/** The entries of a stored list, also of one that cannot be read. */
export function addressesOf({ allowedFrom }: { allowedFrom: string }): string[] {
  return allowedFrom === '' ? [] : allowedFrom.split(' ');
}

/**
 * Reads a stored list. One that cannot be read admits no address.
 * @returns undefined if every address is allowed
 */
export function allowListOf(stored: string): BlockList | undefined {
  if (stored === '') return undefined;
  const list = new BlockList();
  for (const entry of parseAddresses(stored.split(' ')) ?? []) {
    const { address, bits, family } = rangeOf(entry)!;
    list.addSubnet(address, bits, family);
  }
  return list;
}

/** An IPv4 address and its IPv4-mapped IPv6 address are the same to a `BlockList`. */
export function isAllowed(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

function rangeOf(entry: unknown) {
  const [, address = '', length] = (typeof entry === 'string' && ENTRY.exec(entry)) || [];
  const version = isIP(address);
  const [family, maxBits] = version === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  const bits = Number(length ?? maxBits);
  if (version === 0 || bits > maxBits) return undefined;
  const isTooWide = bits < MAPPED_BITS && version === 6 && MAPPED.check(address, 'ipv6');
  return isTooWide ? undefined : { address, bits, family };
}
