import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { PagedAnswer } from '../http/answers.js';
import { Cursor, type CursorKey, type CursorKeys, type CursorKind } from './cursor.js';
import { OURS_TO_JUDGE } from './later-pipes.js';
import { DEFAULT_LIMIT, IsLimit, toLimit } from './limit.js';
import { constrain, invalidRequest, MayBeAbsent } from './validation.js';

/**
 * How a list is asked for page by page. A list with filters extends it; the filters of the class,
 * and the path of the operation, are what a cursor belongs to.
 */
export class PageQuery {
  @Transform(({ value }) => toLimit(value))
  @IsLimit('Maximum number of items to return.')
  limit: number = DEFAULT_LIMIT;

  @ApiPropertyOptional({
    description:
      'Where the page begins, as the `Link` header of the page before says. Opaque; it belongs to its filter.',
    type: 'string',
  })
  @Transform(({ value }) =>
    typeof value === 'string' ? (Cursor.parse(value) ?? value) : (value as unknown),
  )
  @MayBeAbsent()
  @constrain('isCursor', 'a cursor from a Link header', (value) => value instanceof Cursor)
  @constrain<PageQuery>(
    'isOfItsList',
    'used with the path and the filter of its own list',
    (cursor, query) => !(cursor instanceof Cursor) || cursor.belongsTo(filterOf(query)),
  )
  cursor?: Cursor;

  /**
   * The key of the row that the page before ended with, or its keys; undefined on the first page.
   * @throws {ApiError} 400 if the cursor has keys of other kinds
   */
  after<Kind extends CursorKind>(kind: Kind): CursorKeys[Kind] | undefined;
  after<const Kinds extends readonly [CursorKind, CursorKind, ...CursorKind[]]>(
    ...kinds: Kinds
  ): { [Index in keyof Kinds]: CursorKeys[Kinds[Index]] } | undefined;
  after(...kinds: CursorKind[]): CursorKey | readonly CursorKey[] | undefined {
    const { cursor } = this;
    if (cursor === undefined) return undefined;
    const keys = cursor.read(kinds);
    if (keys === undefined) throw invalidRequest(['cursor must be a cursor from a Link header']);
    return kinds.length === 1 ? keys[0] : keys;
  }
}
// Its bounds are those of what was sent: of what a conversion makes of that, nobody could tell.
Reflect.defineMetadata(OURS_TO_JUDGE, true, PageQuery);

/** A page of a list, which is sent as an array, with the `Link` (RFC 8288) to the next one where there is one. */
export class Page<Item> extends PagedAnswer {
  declare readonly items: readonly Item[];
  /** Undefined on the last page. */
  declare readonly next: Cursor | undefined;

  private constructor(items: readonly Item[], next: Cursor | undefined) {
    super(items, next);
  }

  /**
   * @param rows from `query.after()` on, one more than `query.limit`: it tells whether another page follows
   * @param keyOf what the list is ordered by; of several, the last has to be unique
   */
  static of<Row>(
    rows: readonly Row[],
    query: PageQuery,
    keyOf: (row: Row) => CursorKey | readonly CursorKey[],
  ): Page<Row> {
    const { limit } = query;
    if (rows.length <= limit) return new Page(rows, undefined);
    const items = rows.slice(0, limit);
    return new Page(items, Cursor.after([keyOf(items.at(-1)!)].flat(), filterOf(query)));
  }

  map<Other>(to: (item: Item) => Other): Page<Other> {
    return new Page(this.items.map(to), this.next);
  }
}

function filterOf(query: PageQuery): object {
  return { ...query, limit: undefined, cursor: undefined };
}
