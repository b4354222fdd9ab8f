import { parse } from 'fast-querystring';

/** Longer ones hold a cursor, and are hardly ever sent twice. */
const MAX_REMEMBERED_LENGTH = 48;
const MAX_REMEMBERED = 512;

export type ParsedQuery = Readonly<Record<string, string | string[]>>;

const NONE: ParsedQuery = Object.freeze(Object.create(null) as ParsedQuery);
const remembered = new Map<string, ParsedQuery>();

/** Parses a query string; equal short ones give the same frozen object, as long as it is remembered. */
export function parseQuery(text: string): ParsedQuery {
  if (text === '') return NONE;
  if (text.length > MAX_REMEMBERED_LENGTH) return parse(text) as ParsedQuery;
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const query = Object.freeze(parse(text) as ParsedQuery);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(text, query);
  return query;
}
