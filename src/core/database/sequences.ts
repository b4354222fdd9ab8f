import type { DataSource } from 'typeorm';
import { driverErrorOf } from './outage.js';

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
