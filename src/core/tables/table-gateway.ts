import { randomUUID } from 'node:crypto';
import type { Type } from '@nestjs/common';
import type { Database, Parameter, Statement } from '../database/database.js';
import { Cursor, type CursorKey } from '../input/cursor.js';
import { parseOwnJson } from '../input/json.js';
import { Page, type PageQuery } from '../input/page.js';
import { columnsOf, type TableColumn } from './table-columns.js';
import {
  findStatement,
  insertStatement,
  pageName,
  pageStatement,
  type TableSource,
} from './table-statements.js';

type Scalar = string | number | bigint | null | undefined;

/** The members of an entity that are columns, not relations or methods. */
type Columns<Entity> = {
  [Member in keyof Entity]-?: Entity[Member] extends Scalar ? Member : never;
}[keyof Entity];

type Nullable<Entity> = {
  [Member in Columns<Entity>]-?: null extends Entity[Member] ? Member : never;
}[Columns<Entity>];

/** An entity as plain JSON has it: a member that is NULL in the database is absent. */
export type Row<Entity> = Pick<Entity, Exclude<Columns<Entity>, Nullable<Entity>>> & {
  [Member in Nullable<Entity>]?: NonNullable<Entity[Member]>;
};

/** The values of a row to insert: of every column that is neither nullable nor generated. */
export type NewRow<Entity, Generated> = Omit<Row<Entity>, Generated & keyof Entity> & {
  [Member in Generated & keyof Entity]?: undefined;
};

type Values = Record<string, Parameter | undefined>;

/**
 * A table data gateway: the fast statements of one table. It derives them from the entity, whose
 * module imports `TypeOrmModule.forFeature([Entity])`. Statements are prepared; on SQLite the
 * inserts of one event-loop tick share a commit, on PostgreSQL the statements of one tick are
 * sent as one. In the callback of a transaction of TypeORM, each statement runs in it.
 *
 * Supported are integers, texts and UUIDs, a primary key of one column, and the default schema.
 * @typeParam Generated the primary key if the database generates it; default: the member `id`
 */
export class TableGateway<
  Entity extends object,
  Generated extends keyof Entity = Extract<keyof Entity, 'id'>,
> {
  private readonly table: TableSource;
  private readonly finding: Statement;
  private readonly inserting: Statement;
  private readonly paging: Record<string, Statement> = {};

  /** @throws {Error} that lists everything about the entity that the gateway does not honour */
  constructor(
    private readonly entity: Type<Entity>,
    private readonly database: Database,
  ) {
    const { dataSource } = database;
    if (!dataSource.hasMetadata(entity)) {
      const { name } = entity;
      throw new Error(
        `A TableGateway cannot be used for ${name}: ` +
          `import TypeOrmModule.forFeature([${name}]) in its module`,
      );
    }
    const metadata = dataSource.getMetadata(entity);
    const columns = columnsOf(metadata);
    // The database generates integers only.
    const given = columns.filter(({ isGenerated, kind }) => !isGenerated || kind === 'uuid');
    this.table = { name: metadata.tableName, key: columns[0]!, columns, given };
    this.finding = findStatement(this.table);
    this.inserting = insertStatement(this.table);
  }

  /** @returns the row with a primary key; undefined if there is none */
  async find(id: CursorKey): Promise<Row<Entity> | undefined> {
    const [row] = await this.database.query<Values>(this.finding, id);
    return row && this.rowOf(({ name }) => row[name]);
  }

  /**
   * The rows in the order of the primary key. A list in another order uses a Repository and
   * `Page.of()`.
   * @param query of the request; its cursor continues the list
   * @param filter only rows with these values; `undefined` does not filter
   * @throws {ApiError} 400 `invalid_request` for a cursor of another list
   */
  async page(
    query: PageQuery,
    filter: { [Member in Columns<Entity>]?: NonNullable<Entity[Member]> | undefined } = {},
  ): Promise<Page<Row<Entity>>> {
    const { key, columns } = this.table;
    const wanted = filter as Values;
    const filters = columns.filter(({ member }) => wanted[member] !== undefined);
    const values = filters.map(({ member }) => wanted[member]!);
    const name = pageName(this.table, filters);
    const list = [name, ...values];
    const keys = query.cursor?.read([key.kind], list);
    const isContinued = keys !== undefined;
    const statement = (this.paging[name + isContinued] ??= pageStatement(
      this.table,
      filters,
      isContinued,
    ));
    const parameters = [...values, ...(keys ?? []), query.limit + 1];
    const found = await this.database.query<string>(statement, ...parameters);
    const rows = { texts: found.slice(0, query.limit), parse: this.parse };
    if (found.length <= query.limit) return new Page(rows, undefined);
    const last = this.parse(rows.texts.at(-1)!);
    return new Page(rows, Cursor.after([this.keyOf(last)], list).toString());
  }

  /**
   * Inserts a row. Outside of a transaction it is durable when the promise resolves.
   * @param values of all columns that are not generated; nullable columns may be omitted
   * @returns the row, with its generated key
   */
  async insert(values: NewRow<Entity, Generated>): Promise<Row<Entity>> {
    const given = values as Values;
    const parameters = this.table.given.map(({ member, isGenerated }) =>
      isGenerated ? randomUUID() : (given[member] ?? null),
    );
    const [row] = await this.database.write<Values>(this.inserting, ...parameters);
    return this.rowOf((column) =>
      column === this.table.key ? row![column.name] : given[column.member],
    );
  }

  /** The instance of the entity that TypeORM would return for a row. */
  entityOf(row: Row<Entity>): Entity {
    const members = this.table.columns.map(({ member }) => [
      member,
      (row as Record<string, unknown>)[member] ?? null,
    ]);
    return Object.assign(new this.entity(), Object.fromEntries(members)) as Entity;
  }

  /** @throws {Error} for NULL, which a text key may be on SQLite: no cursor continues after it */
  private keyOf(row: Row<Entity>): CursorKey {
    const { name, key } = this.table;
    const value = (row as Record<string, CursorKey | undefined>)[key.member];
    if (value !== undefined) return value;
    throw new Error(`"${name}"."${key.name}" is NULL, so no cursor can continue after it`);
  }

  private readonly parse = (text: string): Row<Entity> => {
    const members = parseOwnJson(text) as Values;
    return this.rowOf(({ member }) => members[member]);
  };

  private rowOf(valueOf: (column: TableColumn) => unknown): Row<Entity> {
    const row: Record<string, unknown> = {};
    for (const column of this.table.columns) {
      const value = valueOf(column) ?? null;
      if (value !== null) row[column.member] = column.read(value);
    }
    return row as Row<Entity>;
  }
}
