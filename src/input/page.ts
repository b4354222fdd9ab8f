import { ApiPropertyOptional } from '@nestjs/swagger';
import { Expose, Transform } from 'class-transformer';
import { PAGE, type PageBody } from '../http/stringify-json.js';
import { constrain, MayBeAbsent } from './constrain.js';
import {
  Cursor,
  type CursorKey,
  type CursorKeys,
  type CursorKind,
  EXPECTED_CURSOR,
} from './cursor.js';
import { IsIntegerText } from './int64.js';
import { parseOwnJson } from './json.js';

/** Query parameters of a paged list. A list with filters extends this class and declares them. */
export class PageQuery {
  @ApiPropertyOptional({ description: 'Maximum number of items to return.', default: 20 })
  @IsIntegerText(1, 100)
  limit: number = 20;

  @ApiPropertyOptional({
    description:
      'Start of the page, from the `Link` header of the previous page. Opaque; valid only with the same filter.',
    type: 'string',
  })
  @Transform(({ value }) => Cursor.parse(value as string) ?? (value as unknown))
  @MayBeAbsent()
  @constrain<PageQuery>(
    'isCursor',
    EXPECTED_CURSOR,
    (cursor, query) => cursor instanceof Cursor && cursor.belongsTo(query),
  )
  cursor?: Cursor;

  /**
   * The key (or keys) of the last row of the previous page. Undefined on the first page.
   * @throws {ApiError} 400 `invalid_request` for a cursor with keys of other kinds
   */
  after<Kind extends CursorKind>(kind: Kind): CursorKeys[Kind] | undefined;
  after<const Kinds extends readonly [CursorKind, CursorKind, ...CursorKind[]]>(
    ...kinds: Kinds
  ): { [Index in keyof Kinds]: CursorKeys[Kinds[Index]] } | undefined;
  after(...kinds: CursorKind[]): CursorKey | readonly CursorKey[] | undefined {
    const keys = this.cursor?.read(kinds);
    return kinds.length === 1 ? keys?.[0] : keys;
  }
}

/** The columns that a list is ordered by. */
type KeyOf<Row> = (row: Row) => CursorKey | readonly CursorKey[];

/**
 * A page of a list. It is sent as an array, with a `Link` (RFC 8288) to the next page if there is
 * one. The items of a table gateway are JSON texts, and are parsed only if something uses them.
 */
export class Page<Item> implements PageBody {
  // `#` instead of `private`: copies of the page must not contain them.
  readonly #texts: readonly string[];
  readonly #parse: (text: string) => Item;
  #items: readonly Item[] | undefined;

  private constructor(
    items: readonly Item[] | undefined,
    /** The cursor of the next page; undefined on the last page. */
    readonly next: string | undefined,
    texts: readonly string[] = [],
    parse = parseOwnJson as (text: string) => Item,
  ) {
    this.#items = items;
    this.#texts = texts;
    this.#parse = parse;
  }

  /**
   * @param rows at most `query.limit + 1` rows after `query.after()`; the extra row shows that
   *   another page follows
   * @param keyOf the columns that the list is ordered by; the last one must be unique
   */
  static of<Row>(rows: readonly Row[], query: PageQuery, keyOf: KeyOf<Row>): Page<Row> {
    return new Page(rows.slice(0, query.limit), nextOf(rows, query, keyOf));
  }

  /** The same for rows that are JSON texts. */
  static ofJson<Row>(
    texts: readonly string[],
    query: PageQuery,
    parse: (text: string) => Row,
    keyOf: KeyOf<Row>,
  ): Page<Row> {
    const next = nextOf(texts, query, (text) => keyOf(parse(text)));
    return new Page(undefined, next, texts.slice(0, query.limit), parse);
  }

  get size(): number {
    return (this.#items ?? this.#texts).length;
  }

  /** Exposed, like the items, so that `ClassSerializerInterceptor` copies it. */
  @Expose()
  get kind(): typeof PAGE {
    return PAGE;
  }

  @Expose()
  get items(): readonly Item[] {
    this.#items ??= this.#texts.map(this.#parse);
    return this.#items;
  }

  /** The JSON text; undefined once the items were used, because they may have changed. */
  get json(): string | undefined {
    return this.#items === undefined ? `[${this.#texts.join()}]` : undefined;
  }

  /** Interceptors may copy a page as JSON. */
  toJSON(): readonly Item[] {
    return this.items;
  }

  map<Other>(to: (item: Item) => Other): Page<Other> {
    return new Page(this.items.map(to), this.next);
  }
}

function nextOf<Row>(
  rows: readonly Row[],
  query: PageQuery,
  keyOf: KeyOf<Row>,
): string | undefined {
  if (rows.length <= query.limit) return undefined;
  const keys = [keyOf(rows[query.limit - 1]!)].flat();
  return Cursor.after(keys, query).toString();
}
