/**
 * Who is counted: a client, by the id that its keys share, or a network address that failed to
 * authenticate. An address can be made up at will and a client cannot, which is why stores keep them apart,
 * forget addresses sooner, and ban clients alone.
 */
export type Subject = string;

export const ADDRESS_PREFIX = 'ip:';
const USAGE_PREFIX = 'usage:';

export function addressSubject(address: string): Subject {
  return ADDRESS_PREFIX + address;
}

/** What a client asks for that takes nothing of its quota. */
export function apartSubject(client: Subject): Subject {
  return USAGE_PREFIX + client;
}

export function isClient(subject: Subject): boolean {
  return !subject.startsWith(ADDRESS_PREFIX) && !subject.startsWith(USAGE_PREFIX);
}
