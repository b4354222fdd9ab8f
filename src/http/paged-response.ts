import { Expose } from 'class-transformer';

const PAGED = Symbol('paged');

/** A page of a list: it is sent as an array, and `Link` (RFC 8288) holds the address of the next page. */
export abstract class PagedResponse {
  /** A copy made by `ClassSerializerInterceptor` keeps it, so that the copy is still recognised. */
  @Expose()
  readonly kind: symbol = PAGED;

  abstract readonly items: readonly unknown[];

  /** The value of `cursor` on the next page; undefined on the last page. */
  abstract readonly next: { toString(): string } | undefined;

  /** The items as JSON text, where the database has built it. */
  get json(): string | undefined {
    return undefined;
  }

  /** The number of items, without reading them. */
  get length(): number {
    return this.items.length;
  }

  /** Interceptors may copy a page as JSON. */
  toJSON(): readonly unknown[] {
    return this.items;
  }
}

type PageCopy = Pick<PagedResponse, 'items' | 'next'> &
  Partial<Pick<PagedResponse, 'json' | 'length'>>;

/** Whether a response body is a page, or a copy of one. */
export function isPagedResponse(body: unknown): body is PageCopy {
  return typeof body === 'object' && (body as { kind?: unknown } | null)?.kind === PAGED;
}

/** The address of this request with the cursor of the next page and an explicit limit. */
export function nextPageUrl(
  url: string,
  query: Readonly<Record<string, unknown>>,
  page: PageCopy,
): string {
  let filter = '';
  for (const [name, value] of Object.entries(query)) {
    if (name === 'cursor' || name === 'limit') continue;
    for (const each of [value].flat())
      filter += `${String(new URLSearchParams({ [name]: String(each) }))}&`;
  }
  const limit = page.length ?? page.items.length;
  return `${url}?${filter}limit=${limit}&cursor=${encodeURIComponent(String(page.next))}`;
}
