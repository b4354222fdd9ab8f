import type { Statement } from './database.js';

/** A column of a table, as a member of the API's JSON objects. */
export interface TableColumn {
  member: string;
  column: string;
  /** A `word` is a text without characters that JSON escapes. */
  type: 'int64' | 'text' | 'word';
  /** May be NULL, which stands for no member. */
  isOptional?: true;
}

/** The columns of an object, in the order of its members. The first one is not optional. */
export type TableColumns = readonly TableColumn[];

/**
 * A row by the names of its columns. PostgreSQL's driver returns an int64 as text, SQLite's as a
 * bigint.
 */
export type TableRow = Readonly<Record<string, string | bigint | null>>;

/** Reads the row with an id. */
export function findStatement(name: string, table: string, columns: TableColumns): Statement {
  const select = columns.map(({ column }) => column).join(', ');
  return {
    name,
    sqlite: `SELECT ${select} FROM ${table} WHERE id = $1`,
    postgres: `SELECT ${select}
      FROM ${batchInput(['wanted_id'], ['bigint'])} LEFT JOIN ${table} ON id = wanted_id ORDER BY ordinal`,
    isBatched: true,
  };
}

/**
 * Reads rows in the order of their ids, as JSON object texts. Its parameters are a value for each
 * of `filters`, the id that the rows come after, and their number. SQLite plans a statement anew
 * whenever a plain parameter of LIMIT is bound, a tenth of the cost of a page; it does not for an
 * expression.
 * @param filters columns of type text
 */
export function pageStatement(
  name: string,
  table: string,
  columns: TableColumns,
  filters: readonly string[] = [],
): Statement {
  const types = [...filters.map(() => 'text'), 'bigint', 'bigint'];
  const isWanted = (input: string): string =>
    filters.map((each) => `${table}.${each} = ${input}${each} AND`).join(' ');
  return {
    name,
    sqlite: `SELECT ${jsonOf(columns, sqliteText)} FROM ${table}
      WHERE ${isWanted('$')} id > $after_id ORDER BY id LIMIT +$row_count`,
    postgres: `SELECT (
        SELECT string_agg(item, E'\\n' ORDER BY id) FROM (
          SELECT id, ${jsonOf(columns, postgresText)} AS item FROM ${table}
          WHERE ${isWanted('input.')} id > after_id
          ORDER BY id LIMIT row_count) page) AS items
      FROM ${batchInput([...filters, 'after_id', 'row_count'], types)} ORDER BY ordinal`,
    isBatched: true,
    isJson: true,
  };
}

/**
 * Inserts a row and returns its generated `id`.
 * @param columns of its parameters, in their order
 */
export function insertStatement(name: string, table: string, columns: TableColumns): Statement {
  const names = columns.map(({ column }) => column);
  const insert = `INSERT INTO ${table} (${names.join(', ')})`;
  return {
    name,
    sqlite: `${insert} VALUES ($${names.join(', $')}) RETURNING id`,
    postgres: `${insert} SELECT ${names.join(', ')}
      FROM ${batchInput(names, columns.map(postgresType))} ORDER BY ordinal RETURNING id`,
    isBatched: true,
  };
}

/**
 * The parameters of a batch on PostgreSQL as the table `input`, with a row per element and its
 * `ordinal`.
 */
export function batchInput(names: readonly string[], types: readonly string[]): string {
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`);
  return `unnest(${arrays.join(', ')}) WITH ORDINALITY AS input(${names.join(', ')}, ordinal)`;
}

export function postgresType({ type }: TableColumn): string {
  return type === 'int64' ? 'bigint' : 'text';
}

/** The object of a row: an int64 is a bigint, a member whose column is NULL is missing. */
export function membersOf<Dto>(columns: TableColumns, row: TableRow): Dto {
  const members: Record<string, string | bigint> = {};
  for (const { member, column, type } of columns) {
    const value = row[column] ?? null;
    if (value !== null) members[member] = type === 'int64' ? BigInt(value) : value;
  }
  return members as Dto;
}

const sqliteText = (column: string): string => `json_quote(${column})`;
const postgresText = (column: string): string => `to_json(${column})::text`;

/** An SQL expression for the JSON text of a row. */
function jsonOf(columns: TableColumns, textOf: (column: string) => string): string {
  const members = columns.map(({ member, column, type, isOptional }, index) => {
    const name = `${index === 0 ? '{' : ','}"${member}":`;
    const value = type === 'text' ? textOf(column) : column;
    const json = type === 'word' ? `'${name}"' || ${value} || '"'` : `'${name}' || ${value}`;
    return isOptional ? `CASE WHEN ${column} IS NULL THEN '' ELSE ${json} END` : json;
  });
  return `${members.join(' || ')} || '}'`;
}
