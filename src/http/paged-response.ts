import { type ParsedUrlQuery, stringify } from 'node:querystring';

/** The `kind` of a page. A copy made by an interceptor has it too. */
export const PAGED = Symbol('paged');

/**
 * A page of a list: it is sent as an array, and `Link` (RFC 8288) holds the address of the next
 * page.
 */
export interface PagedResponse {
  readonly kind: symbol;
  readonly items: readonly unknown[];
  /** The value of `cursor` on the next page; undefined on the last page. */
  readonly next: string | undefined;
  /** The number of items, without reading them. A copy may lack it. */
  readonly size?: number | undefined;
  /** The items as JSON text, where the database has built it. */
  readonly json?: string | undefined;
}

export function isPagedResponse(body: unknown): body is PagedResponse {
  return typeof body === 'object' && (body as Partial<PagedResponse> | null)?.kind === PAGED;
}

/**
 * The address of the next page: the filter of this request, an explicit limit, and the next cursor.
 */
export function nextPageUrl(url: string, query: ParsedUrlQuery, page: PagedResponse): string {
  let filter = '';
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'limit' && name !== 'cursor') filter += `${stringify({ [name]: value })}&`;
  }
  return `${url}?${filter}limit=${page.size ?? page.items.length}&cursor=${page.next}`;
}
