/**
 * Matches a target, a parameter, or the comma between links. Quoted strings may contain any of
 * these.
 */
const PART = /\s*(?:,|<([^>]*)>|;\s*([^\s=;,]*)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"?|([^;,]*)))?)/gy;

/** @returns the targets of a `Link` header (RFC 8288) by relation type. */
export function readLinks(field: string | null): Map<string, string> {
  const links = new Map<string, string>();
  let targetWithoutRel: string | undefined;
  for (const [, target, name, quoted, bare = ''] of field?.matchAll(PART) ?? []) {
    if (name === undefined) targetWithoutRel = target;
    if (targetWithoutRel === undefined || name?.toLowerCase() !== 'rel') continue;
    for (const rel of (quoted?.replace(/\\(.)/g, '$1') ?? bare).toLowerCase().split(/\s+/)) {
      if (rel !== '' && !links.has(rel)) links.set(rel, targetWithoutRel);
    }
    // RFC 8288: parsers ignore a second `rel` of the same link.
    targetWithoutRel = undefined;
  }
  return links;
}

/**
 * @returns the cursor of the next page. Only the cursor is used, since the link may name another
 *   host.
 */
export function nextCursor(headers: Headers): string | undefined {
  const next = readLinks(headers.get('link')).get('next');
  if (next === undefined) return undefined;
  const query = next.slice(next.indexOf('?') + 1);
  return new URLSearchParams(query).get('cursor') ?? undefined;
}
