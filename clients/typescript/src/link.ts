const LINK = /<([^>]*)>((?:\s*;\s*[\w*-]+\s*(?:=\s*(?:"[^"\\]*(?:\\.[^"\\]*)*"|[^\s";,]+))?)*)/g;
const REL = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))/i;

/** The targets of a `Link` field (RFC 8288) by their relation. */
export function readLinks(field: string | null): Map<string, string> {
  const links = new Map<string, string>();
  for (const [, target = '', parameters = ''] of field?.matchAll(LINK) ?? []) {
    const [, quoted, bare] = REL.exec(parameters) ?? [];
    for (const rel of (quoted ?? bare ?? '').toLowerCase().split(/\s+/)) {
      if (rel !== '' && !links.has(rel)) links.set(rel, target);
    }
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
