import type { Type } from '@nestjs/common';
import type { Database, Parameter, Statement } from '../database/database.js';
import type { CursorKey } from '../input/cursor.js';
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

type Nullable<Entity> = {
  [Member in keyof Entity]: null extends Entity[Member] ? Member : never;
}[keyof Entity];

/** An entity as plain JSON has it: a member that is NULL in the database is absent. */
export type Row<Entity> = Omit<Entity, Nullable<Entity>> & {
  [Member in Nullable<Entity>]?: NonNullable<Entity[Member]>;
};

type Values = Record<string, Parameter | undefined>;

/**
 * A table data gateway: the fast statements of one table. It derives them from the entity, whose
 * module imports `TypeOrmModule.forFeature([Entity])`. Statements are prepared; on SQLite the
 * inserts of one event-loop tick share a commit, on PostgreSQL the statements of one tick are
 * sent as one. Within a transaction of TypeORM, each statement runs in that transaction.
 *
 * Supported are integers, texts and UUIDs, a primary key of one column, and the default schema.
 */
export class TableGateway<Entity extends object> {
  private readonly table: TableSource;
  private readonly finding: Statement;
  private readonly inserting: Statement;
  private readonly paging: Record<string, Statement> = {};

  /** @throws {Error} if the entity has a column that is not supported */
  constructor(
    private readonly entity: Type<Entity>,
    private readonly database: Database,
  ) {
    const metadata = database.dataSource.getMetadata(entity);
    const columns = columnsOf(metadata);
    const [key] = columns;
    if (key === undefined || metadata.primaryColumns.length !== 1 || metadata.schema) {
      throw new Error(
        `A table gateway needs one primary column and no schema; use a Repository of ${entity.name}`,
      );
    }
    const given = columns.filter(({ isGenerated }) => !isGenerated);
    this.table = { name: metadata.tableName, key, columns, given };
    this.finding = findStatement(this.table);
    this.inserting = insertStatement(this.table);
  }

  /** @returns the row with a primary key; undefined if there is none */
  async find(id: CursorKey): Promise<Row<Entity> | undefined> {
    const [row] = await this.database.query<Values>(this.finding, id);
    return row && this.rowOf(({ name }) => row[name]);
  }

  /**
   * @param query of the request; its cursor continues the list
   * @param filter only rows with these values; `undefined` does not filter
   * @param orderBy one or two members with an index, never NULL, the last one unique; default:
   *   the primary key
   * @throws {ApiError} 400 `invalid_request` for a cursor of another list
   */
  async page(
    query: PageQuery,
    filter: { [Member in keyof Entity]?: NonNullable<Entity[Member]> | undefined } = {},
    orderBy?: readonly (keyof Entity)[],
  ): Promise<Page<Row<Entity>>> {
    const { columns } = this.table;
    const wanted = filter as Values;
    const filters = columns.filter(({ member }) => wanted[member] !== undefined);
    const order = orderBy?.map((name) => this.orderColumn(name)) ?? [this.table.key];
    const keys = query.cursor?.read(order.map(({ kind }) => kind));
    const shape = { filters, order, isContinued: keys !== undefined };
    const name = pageName(this.table, shape);
    const statement = (this.paging[name] ??= pageStatement(this.table, shape));
    const values = filters.map(({ member }) => wanted[member]!);
    const parameters = [...values, ...(keys ?? []), query.limit + 1];
    const texts = await this.database.query<string>(statement, ...parameters);
    const parse = (text: string): Row<Entity> => {
      const members = parseOwnJson(text) as Values;
      return this.rowOf(({ member }) => members[member]);
    };
    const keysOf = (row: Row<Entity>): CursorKey[] =>
      order.map(({ member }) => (row as Record<string, CursorKey>)[member]!);
    return Page.ofJson(texts, query, parse, keysOf);
  }

  /**
   * Inserts a row. Outside of a transaction it is durable when the promise resolves.
   * @param values of all columns that are not generated; a nullable one may be omitted
   * @returns the row, with its generated key
   */
  async insert(values: Partial<Row<Entity>>): Promise<Row<Entity>> {
    const given = values as Values;
    const parameters = this.table.given.map(({ member }) => given[member] ?? null);
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

  /** @throws {Error} for a column without an order that a cursor can continue */
  private orderColumn(name: keyof Entity): TableColumn {
    const column = this.table.columns.find(({ member }) => member === name);
    if (column === undefined || column.isOptional) {
      throw new Error(`A page cannot be ordered by ${this.table.name}.${String(name)}`);
    }
    return column;
  }

  private rowOf(valueOf: (column: TableColumn) => unknown): Row<Entity> {
    const row: Record<string, unknown> = {};
    for (const column of this.table.columns) {
      const value = valueOf(column) ?? null;
      if (value !== null) row[column.member] = column.read(value);
    }
    return row as Row<Entity>;
  }
}
