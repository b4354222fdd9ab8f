/** A target, a parameter, or the comma between links; a quoted string may hold what reads like any of them. */
const PART = /\s*(?:,|<([^>]*)>|;\s*([^\s=;,]*)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"?|([^;,]*)))?)/gy;

/** The targets of a `Link` field (RFC 8288) by their relation. */
export function readLinks(field: string | null): Map<string, string> {
  const links = new Map<string, string>();
  let unrelated: string | undefined;
  for (const [, target, name, quoted, bare = ''] of field?.matchAll(PART) ?? []) {
    if (name === undefined) unrelated = target;
    if (unrelated === undefined || name?.toLowerCase() !== 'rel') continue;
    for (const rel of (quoted?.replace(/\\(.)/g, '$1') ?? bare).toLowerCase().split(/\s+/)) {
      if (rel !== '' && !links.has(rel)) links.set(rel, unrelated);
    }
    // Only the first `rel` of a link counts.
    unrelated = undefined;
  }
  return links;
}

/** The cursor of the next page. Its address may name another host than the one that is called. */
export function nextCursor(headers: Headers): string | undefined {
  const next = readLinks(headers.get('link')).get('next');
  if (next === undefined) return undefined;
  const query = next.slice(next.indexOf('?') + 1);
  return new URLSearchParams(query).get('cursor') ?? undefined;
}
