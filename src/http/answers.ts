import { Expose, Transform } from 'class-transformer';

const JSON_TEXT = Symbol('JSON text');

export type AnswerHeader = readonly [name: string, value: string];

/**
 * A response body that is JSON text already, with the headers that belong to it.
 * A controller returns one where the database has built the text: parsing and writing it again would
 * cost more than reading it, and would round an int64. A guest's ClassSerializerInterceptor makes a copy, which has
 * what is exposed, whatever its strategy is.
 */
export class JsonAnswer {
  /** A copy has it too: symbols stay what they are. */
  @Expose()
  readonly kind = JSON_TEXT;

  @Expose()
  readonly text: string;

  /** A list: the members of an object that is of no class may be left out of a copy. */
  @Expose()
  readonly headers: readonly AnswerHeader[];

  constructor(text: string, headers: readonly AnswerHeader[] = []) {
    this.text = text;
    this.headers = headers;
  }
}

/** Whether it is one, or was. */
export function isJsonAnswer(body: unknown): body is JsonAnswer {
  return typeof body === 'object' && (body as JsonAnswer | null)?.kind === JSON_TEXT;
}

const PAGED = Symbol('paged');

/** A page of a list: it is sent as an array, and `Link` (RFC 8288) holds the address of the next one. */
export abstract class PagedAnswer {
  /** A copy has it too, as of a `JsonAnswer`. */
  @Expose()
  readonly kind: symbol = PAGED;

  @Expose()
  readonly items: readonly unknown[];

  /** What the next page is asked for with, as the parameter `cursor`; undefined on the last one. */
  @Expose()
  @Transform(({ obj }: { obj: PagedAnswer }) => obj.next?.toString())
  readonly next: { toString(): string } | undefined;

  constructor(items: readonly unknown[], next: { toString(): string } | undefined) {
    this.items = items;
    this.next = next;
  }
}

/** Whether it is one, or was. */
export function isPagedAnswer(body: unknown): body is PagedAnswer {
  return typeof body === 'object' && (body as PagedAnswer | null)?.kind === PAGED;
}

/** The address that was asked for, with `cursor` for its own, and the limit written out. */
export function nextPageUrl(
  pathUrl: string,
  query: Readonly<Record<string, unknown>>,
  { items, next }: PagedAnswer,
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (name === 'cursor' || name === 'limit') continue;
    for (const each of [value].flat()) parameters.append(name, String(each));
  }
  parameters.set('limit', String(items.length));
  parameters.set('cursor', String(next));
  return `${pathUrl}?${parameters.toString()}`;
}
