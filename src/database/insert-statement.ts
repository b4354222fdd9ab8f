import type { Statement } from './database.js';
import { columnNames, postgresType, type TableColumns } from './table-columns.js';

/**
 * Inserts a row and returns its generated `id`.
 * @param columns of its parameters, in their order
 */
export function insertStatement(name: string, table: string, columns: TableColumns): Statement {
  const names = columnNames(columns);
  const arrays = columns.map((column, index) => `$${index + 1}::${postgresType(column)}[]`);
  return {
    name,
    sqlite: `INSERT INTO ${table} (${names}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})
      RETURNING CAST(id AS text) AS id`,
    postgres: `INSERT INTO ${table} (${names})
      SELECT ${names} FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS given(${names}, place)
      ORDER BY place RETURNING id`,
    isBatched: true,
  };
}
