import { BlockList, isIP } from 'node:net';

/** Addresses and ranges of a key. Each request of the key is compared with all of them. */
export const MAX_ADDRESSES = 50;

/** Completes "NAME must be ..." */
export const ADDRESS_LIST = `a list of at most ${MAX_ADDRESSES} IP addresses or CIDR ranges`;

/** An address without a zone, and the length of its prefix if it is a range. */
const ENTRY = /^([\da-f:.]+)(?:\/(0|[1-9]\d{0,2}))?$/i;
/** The shortest form of an IPv4-mapped address (RFC 4291 section 2.5.5.2). */
const MAPPED = /^::ffff:([\da-f]+):([\da-f]+)$/;
const MAPPED_BITS = 96;

interface Range {
  address: string;
  bits: number;
  isIPv4: boolean;
}

/**
 * Parses IP addresses and CIDR ranges.
 * @returns them without repetitions, IPv4-mapped ones as IPv4; undefined if one is invalid, or if
 *   there are more than 50
 */
export function parseAddresses(entries: readonly unknown[]): string[] | undefined {
  const ranges = rangesOf(entries);
  return ranges && [...new Set(ranges.map(textOf))];
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
  for (const { address, bits, isIPv4 } of rangesOf(stored.split(' ')) ?? []) {
    list.addSubnet(address, bits, isIPv4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

export function isAllowed(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

function rangesOf(entries: readonly unknown[]): Range[] | undefined {
  if (entries.length > MAX_ADDRESSES) return undefined;
  const ranges = entries.flatMap((entry) => rangeOf(entry) ?? []);
  return ranges.length === entries.length ? ranges : undefined;
}

function rangeOf(entry: unknown): Range | undefined {
  const [, text = '', length] = (typeof entry === 'string' && ENTRY.exec(entry)) || [];
  const version = isIP(text);
  if (version === 0) return undefined;
  const maxBits = version === 4 ? 32 : 128;
  const bits = length === undefined ? maxBits : Number(length);
  const address = version === 4 ? text : shortestForm(text);
  const isIPv4 = isIP(address) === 4;
  const prefix = isIPv4 && version === 6 ? MAPPED_BITS : 0;
  const isValid = bits >= prefix && bits <= maxBits;
  return isValid ? { address, bits: bits - prefix, isIPv4 } : undefined;
}

/** The shortest form of an IPv6 address; that of an IPv4-mapped one is the IPv4 address. */
function shortestForm(address: string): string {
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const groups = MAPPED.exec(shortest)
    ?.slice(1)
    .map((group) => parseInt(group, 16));
  return groups?.flatMap((group) => [group >> 8, group & 255]).join('.') ?? shortest;
}

function textOf({ address, bits, isIPv4 }: Range): string {
  return bits === (isIPv4 ? 32 : 128) ? address : `${address}/${bits}`;
}
