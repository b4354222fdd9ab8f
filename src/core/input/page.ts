import { ApiPropertyOptional } from '@nestjs/swagger';
import { Expose, Transform } from 'class-transformer';
import { IsInstance } from 'class-validator';
import { PAGE, type PageBody } from '../http/stringify-json.js';
import { MayBeAbsent } from './constrain.js';
import {
  Cursor,
  CURSOR_FAULT,
  type CursorKey,
  type CursorKeys,
  type CursorKind,
} from './cursor.js';
import { IsIntegerText } from './int64.js';

/** Query parameters of a paged list. A list with filters extends this class and declares them. */
export class PageQuery {
  @ApiPropertyOptional({ description: 'Maximum number of items to return.', default: 20 })
  @IsIntegerText(1, 100)
  limit: number = 20;

  @ApiPropertyOptional({
    description:
      "Continues the list: taken from the previous page's `Link` header. Opaque; valid only with the same filter.",
    type: 'string',
  })
  @Transform(({ value }) => Cursor.parse(value as string) ?? (value as unknown))
  @MayBeAbsent()
  @IsInstance(Cursor, { message: CURSOR_FAULT })
  cursor?: Cursor;

  /**
   * The key (or keys) of the last row of the previous page. Undefined on the first page.
   * @throws {ApiError} 400 `invalid_request` for a cursor of another list, or with other keys
   */
  after<Kind extends CursorKind>(kind: Kind): CursorKeys[Kind] | undefined;
  after<const Kinds extends readonly [CursorKind, CursorKind, ...CursorKind[]]>(
    ...kinds: Kinds
  ): { [Index in keyof Kinds]: CursorKeys[Kinds[Index]] } | undefined;
  after(...kinds: CursorKind[]): CursorKey | readonly CursorKey[] | undefined {
    const keys = this.cursor?.read(kinds, listOf(this));
    return kinds.length === 1 ? keys?.[0] : keys;
  }
}

/** A list without a table gateway is identified by its query class and filter. */
function listOf(query: PageQuery): unknown[] {
  const filter = Object.entries(query).filter(
    ([name, value]) => value !== undefined && name !== 'limit' && name !== 'cursor',
  );
  return [query.constructor.name, filter.sort()];
}

/** Rows as JSON texts. They are parsed only if something uses them. */
export interface JsonRows<Item> {
  readonly texts: readonly string[];
  readonly parse: (text: string) => Item;
}

/**
 * A page of a list. The adapter sends it as an array, with a `Link` (RFC 8288) to the next page if
 * there is one.
 */
export class Page<Item> implements PageBody {
  /** Exposed, like the other members, so that `ClassSerializerInterceptor` copies it. */
  @Expose() readonly kind = PAGE;
  /** The cursor of the next page; undefined on the last page. */
  @Expose() readonly next: string | undefined;
  // `#` instead of `private`: copies of the page must not contain it.
  #rows: readonly Item[] | JsonRows<Item>;

  constructor(rows: readonly Item[] | JsonRows<Item>, next: string | undefined) {
    this.#rows = rows;
    this.next = next;
  }

  /**
   * @param rows at most `query.limit + 1` rows after `query.after()`; the extra row shows that
   *   another page follows
   * @param keyOf the columns that the list is ordered by; the last one must be unique
   */
  static of<Row>(
    rows: readonly Row[],
    query: PageQuery,
    keyOf: (row: Row) => CursorKey | readonly CursorKey[],
  ): Page<Row> {
    if (rows.length <= query.limit) return new Page(rows, undefined);
    const keys = [keyOf(rows[query.limit - 1]!)].flat();
    return new Page(rows.slice(0, query.limit), Cursor.after(keys, listOf(query)).toString());
  }

  @Expose()
  get size(): number {
    return ('texts' in this.#rows ? this.#rows.texts : this.#rows).length;
  }

  @Expose()
  get items(): readonly Item[] {
    if ('texts' in this.#rows) this.#rows = this.#rows.texts.map(this.#rows.parse);
    return this.#rows;
  }

  /** The JSON text; undefined once the items were used, because they may have changed. */
  get json(): string | undefined {
    return 'texts' in this.#rows ? `[${this.#rows.texts.join()}]` : undefined;
  }

  /** Interceptors may copy a page as JSON. */
  toJSON(): readonly Item[] {
    return this.items;
  }

  map<Other>(to: (item: Item) => Other): Page<Other> {
    return new Page(this.items.map(to), this.next);
  }
}
