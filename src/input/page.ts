import type { Type } from '@nestjs/common';
import { ApiOkResponse, ApiPropertyOptional } from '@nestjs/swagger';
import { Expose, Transform } from 'class-transformer';
import { PAGED, type PagedResponse } from '../http/paged-response.js';
import { constrain, MayBeAbsent } from './constrain.js';
import { Cursor, type CursorKey, type CursorKeys, type CursorKind } from './cursor.js';
import { invalidRequest } from './invalid-request.js';

const LIMIT = /^(?:[1-9]\d?|100)$/;
const EXPECTED_CURSOR = 'from a Link header of this list, with the same filter';

/** Query parameters of a paged list. A list with filters extends this class and declares them. */
export class PageQuery {
  @ApiPropertyOptional({
    description: 'Maximum number of items to return.',
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 20,
  })
  @Transform(({ value }) => (LIMIT.test(value as string) ? Number(value) : (value as unknown)))
  @constrain('isLimit', 'an integer between 1 and 100', (value) => typeof value === 'number')
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
    if (this.cursor === undefined) return undefined;
    const keys = this.cursor.read(kinds);
    if (keys === undefined) throw invalidRequest([`cursor must be ${EXPECTED_CURSOR}`]);
    return kinds.length === 1 ? keys[0] : keys;
  }
}

/**
 * A page of a list. It is sent as an array, with a `Link` (RFC 8288) to the next page if there is
 * one.
 */
export class Page<Item> implements PagedResponse {
  /** Exposed, so that `ClassSerializerInterceptor` copies it. */
  @Expose()
  readonly kind = PAGED;

  // Only declared: a page of JSON texts defines it as an accessor.
  @Expose()
  declare readonly items: readonly Item[];

  /** The cursor of the next page; undefined on the last page. */
  @Expose()
  readonly next: string | undefined;

  protected constructor(
    items: readonly Item[] | undefined,
    next: string | undefined,
    readonly size = items?.length,
  ) {
    if (items !== undefined) this.items = items;
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
    return new Page(rows.slice(0, query.limit), Cursor.after(keys, query).toString());
  }

  /** Interceptors may copy a page as JSON. */
  toJSON(): readonly Item[] {
    return this.items;
  }

  map<Other>(to: (item: Item) => Other): Page<Other> {
    return new Page(this.items.map(to), this.next);
  }
}

/** Documents an operation that returns a `Page` of `type`. */
export function ApiPage(type: Type, description = 'A page of the list.'): MethodDecorator {
  const next = 'URL of the next page (RFC 8288). Absent on the last page.';
  const headers = { Link: { description: next, schema: { type: 'string' as const } } };
  return ApiOkResponse({ description, type: [type], headers });
}
