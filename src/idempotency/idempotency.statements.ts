import type { Statement } from '../database/database.js';
import { insertStatement } from '../database/insert-statement.js';
import { columnNames, postgresType, type TableColumns } from '../database/table-columns.js';

/** How long PostgreSQL waits for an unfinished request with the same key. */
export const LOCK_TIMEOUT = '50ms';

const FIND_TEXT = `SELECT body_digest AS "bodyDigest", answer FROM idempotency_records
  WHERE key_id = $1 AND idempotency_key = $2 AND created_at > $3`;
export const FIND: Statement = { name: 'idempotency.find', sqlite: FIND_TEXT, postgres: FIND_TEXT };

/**
 * Inserts a row with a generated `id`, and the record of the response `{"id": ..., <members>}`, in one transaction. It
 * returns the id. A repeat violates the primary key of the records.
 * @param columns of its first parameters; then follow the key id, the idempotency key, the body digest, the text of the
 *   response after the id, and the time
 */
export function insertOnceStatement(name: string, table: string, columns: TableColumns): Statement {
  const record =
    'INSERT INTO idempotency_records (key_id, idempotency_key, body_digest, answer, created_at)';
  const values = columns.map((column, index) => `$${index + 1}::${postgresType(column)}`);
  const [keyId, key, digest, rest, now] = [1, 2, 3, 4, 5].map((n) => `$${columns.length + n}`);
  return {
    name,
    sqlite: [
      insertStatement(name, table, columns).sqlite as string,
      `${record} VALUES (${keyId}, ${key}, ${digest}, '{"id":' || last_insert_rowid() || ${rest}, ${now})`,
    ],
    // The setting ends with the transaction, which is this statement. It is read before the insert that may wait.
    postgres: `WITH setting AS MATERIALIZED (SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}', true)),
      created AS (
        INSERT INTO ${table} (${columnNames(columns)}) SELECT ${values.join(', ')} FROM setting RETURNING id),
      recorded AS (
        ${record} SELECT ${keyId}::text, ${key}::text, ${digest}::text,
          '{"id":' || id || ${rest}::text, ${now}::bigint FROM created)
      SELECT id FROM created`,
  };
}
