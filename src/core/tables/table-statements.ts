import type { Statement } from '../database/database.js';
import type { TableColumn } from './table-columns.js';

export interface TableSource {
  readonly name: string;
  /** The primary key. */
  readonly key: TableColumn;
  /** All, the primary key first. */
  readonly columns: readonly TableColumn[];
  /** The columns that an insert sets. */
  readonly given: readonly TableColumn[];
}

/**
 * Selects the row with a primary key. On PostgreSQL, LIMIT keeps a plan that was made when the
 * table was empty from reading all of it.
 */
export function findStatement({ name, key, columns }: TableSource): Statement {
  const select = namesOf(columns);
  return {
    name: `${name}.find`,
    sqlite: `SELECT ${select} FROM "${name}" WHERE "${key.name}" = $1`,
    postgres: `SELECT found.* FROM ${batchInput([key])} LEFT JOIN LATERAL
      (SELECT ${select} FROM "${name}" WHERE "${key.name}" = input.p1 LIMIT 1) found ON true
      ORDER BY input.ordinal`,
    isBatched: true,
  };
}

/**
 * Selects rows as JSON object texts, in the order of the primary key. Parameters: filter values,
 * the key of the last row if the page is continued, limit.
 *
 * SQLite plans a statement anew whenever a plain parameter of LIMIT is bound, which is a tenth of
 * the cost of a page; it does not for an expression.
 */
export function pageStatement(
  source: TableSource,
  filters: readonly TableColumn[],
  isContinued: boolean,
): Statement {
  const { name, key, columns } = source;
  const bound = isContinued ? [...filters, key] : filters;
  const limit = `p${bound.length + 1}`;
  const orderBy = `"${key.name}"`;
  const where = (prefix: string) => {
    const conditions = bound.map(
      (column, index) =>
        `"${column.name}" ${index < filters.length ? '=' : '>'} ${prefix}p${index + 1}`,
    );
    return conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  };
  return {
    name: pageName(source, filters) + (isContinued ? ':after' : ''),
    sqlite: `SELECT ${jsonOf(columns, (column) => `json_quote(${column})`)} FROM "${name}"
      ${where('$')} ORDER BY ${orderBy} LIMIT +$${limit}`,
    postgres: `SELECT (
        SELECT string_agg(item, E'\\n' ORDER BY ${orderBy}) FROM (
          SELECT ${orderBy}, ${jsonOf(columns, (column) => `to_json(${column})::text`)} AS item
          FROM "${name}" ${where('input.')} ORDER BY ${orderBy} LIMIT input.${limit}) page) AS items
      FROM ${batchInput([...bound, LIMIT])} ORDER BY input.ordinal`,
    isBatched: true,
    isJson: true,
  };
}

/** The name of a list: for example `orders.page:status`. */
export function pageName({ name }: TableSource, filters: readonly TableColumn[]): string {
  return [`${name}.page`, ...filters.map(({ member }) => member)].join(':');
}

/** Inserts a row, and returns its key. Parameters: the columns that are not generated. */
export function insertStatement({ name, key, given }: TableSource): Statement {
  const names = namesOf(given);
  return {
    name: `${name}.insert`,
    sqlite: `INSERT INTO "${name}" (${names}) VALUES (${numbered('$p', given)})
      RETURNING "${key.name}"`,
    postgres: `INSERT INTO "${name}" (${names}) SELECT ${numbered('input.p', given)}
      FROM ${batchInput(given)} ORDER BY input.ordinal RETURNING "${key.name}"`,
    isBatched: true,
  };
}

const POSTGRES_TYPES = { int64: 'bigint', number: 'bigint', text: 'text', uuid: 'uuid' } as const;
const LIMIT = { kind: 'number' } as const;

/**
 * The parameters of a batch on PostgreSQL as the table `input`: a row per element, with the columns
 * `p1`, `p2`, ..., and its `ordinal`.
 */
function batchInput(columns: readonly Pick<TableColumn, 'kind'>[]): string {
  const arrays = columns.map(({ kind }, index) => `$${index + 1}::${POSTGRES_TYPES[kind]}[]`);
  const names = numbered('p', columns);
  return `unnest(${arrays.join(', ')}) WITH ORDINALITY AS input(${names}, ordinal)`;
}

/** A list of numbered names, one per item: for example `p1, p2`. */
function numbered(prefix: string, items: readonly unknown[]): string {
  return items.map((_, index) => `${prefix}${index + 1}`).join(', ');
}

function namesOf(columns: readonly TableColumn[]): string {
  return columns.map(({ name }) => `"${name}"`).join(', ');
}

/** An SQL expression for the JSON text of a row. A member whose column is NULL is absent. */
function jsonOf(columns: readonly TableColumn[], textOf: (column: string) => string): string {
  const members = columns.map(({ member, name, kind }) => {
    const column = `"${name}"`;
    const value = kind === 'text' || kind === 'uuid' ? textOf(column) : column;
    return `CASE WHEN ${column} IS NULL THEN '' ELSE ',"${member}":' || ${value} END`;
  });
  return `'{' || substr(${members.join(' || ')}, 2) || '}'`;
}
