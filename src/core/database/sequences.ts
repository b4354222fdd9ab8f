import type { DataSource } from 'typeorm';
import { driverErrorOf } from './database-error.js';

/** What an operator runs after rows were copied with their keys into a table of PostgreSQL. */
export function setSequence(table: string, column: string, sequence?: string): string {
  const name = sequence ?? `pg_get_serial_sequence('"${table}"', '${column}')`;
  return `SELECT setval(${name}, max("${column}")) FROM "${table}"`;
}

/**
 * Explains an insert that PostgreSQL rejected because its sequence is behind the table.
 * @returns undefined for any other error
 */
export function sequenceFault(error: unknown, dataSource: DataSource): string | undefined {
  const { code, table = '', detail = '' } = driverErrorOf(error);
  if (code !== '23505') return undefined;
  const metadata = dataSource.entityMetadatas.find(({ tableName }) => tableName === table);
  // In any language, the detail contains "(id)=(7)".
  const key = metadata?.primaryColumns.find(
    ({ generationStrategy, databaseName }) =>
      generationStrategy === 'increment' && detail.includes(`(${databaseName})=(`),
  );
  if (key === undefined) return undefined;
  return (
    `PostgreSQL assigned a key to ${table}.${key.databaseName} that is taken: its sequence is ` +
    `behind the table, unless the insert chose the key. Run petstore doctor, or ` +
    setSequence(table, key.databaseName)
  );
}

export interface KeySequence {
  table: string;
  column: string;
  sequence: string;
  isPrimary: boolean;
  isOwned: boolean;
  canRead: boolean;
}

/** The arguments of `SEQUENCES`. */
export function sequencesOf(tables: readonly string[]): unknown[] {
  return [tables, String.raw`^nextval\('(.+)'::regclass\)$`];
}

/** The sequences of PostgreSQL that assign columns, by their identities and defaults. */
export const SEQUENCES = `
  SELECT name AS "table", attname AS "column", sequence, indrelid IS NOT NULL AS "isPrimary",
    owned IS NOT NULL AS "isOwned", has_sequence_privilege(sequence, 'SELECT') AS "canRead"
  FROM unnest($1::text[]) name
  JOIN pg_attribute ON attrelid = to_regclass(quote_ident(name)) AND attnum > 0
    AND NOT attisdropped
  LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary AND attnum = ANY (indkey)
  LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  CROSS JOIN pg_get_serial_sequence(quote_ident(name), attname) owned
  CROSS JOIN coalesce(owned, substring(pg_get_expr(adbin, adrelid), $2)) sequence
  WHERE sequence IS NOT NULL`;
