import { stringify } from 'node:querystring';

/** The `kind` of a page. A copy made by an interceptor has it too. */
export const PAGED = Symbol('paged');

/** A page of a list: it is sent as an array, and `Link` (RFC 8288) holds the address of the next page. */
export interface PagedResponse {
  readonly kind: symbol;
  readonly items: readonly unknown[];
  /** The value of `cursor` on the next page; undefined on the last page. */
  readonly next: string | undefined;
  /** The items as JSON text, where the database has built it. */
  readonly json?: string | undefined;
}

export function isPagedResponse(body: unknown): body is PagedResponse {
  return typeof body === 'object' && (body as Partial<PagedResponse> | null)?.kind === PAGED;
}

/** The address of the next page: the filter and the limit of this request, and the next cursor. */
export function nextPageUrl(url: string, query: object, next: string): string {
  const { limit, ...filter } = query as Record<string, string>;
  return `${url}?${stringify({ ...filter, ...(limit !== undefined && { limit }), cursor: next })}`;
}
