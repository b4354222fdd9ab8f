import { stringify } from 'lossless-json';

/** The `kind` of a page of a list. A copy that an interceptor has made has it too. */
export const PAGE = Symbol('page');

/** A response that is sent as the array of its items. */
export interface PageBody {
  readonly kind: symbol;
  /** The cursor of the next page. */
  readonly next: string | undefined;
  readonly size: number;
  readonly items: readonly unknown[];
  /** The same as JSON text, where the database has built it. */
  readonly json?: string | undefined;
}

/**
 * JSON text as `JSON.stringify` writes it, but with every digit of a bigint, and a page as the
 * array of its items.
 */
export function stringifyJson(value: unknown): string {
  const json = isPage(value) ? value.json : undefined;
  return json ?? stringify(value, (_name, part) => (isPage(part) ? part.items : part)) ?? 'null';
}

export function isPage(value: unknown): value is PageBody {
  return typeof value === 'object' && (value as Partial<PageBody> | null)?.kind === PAGE;
}
