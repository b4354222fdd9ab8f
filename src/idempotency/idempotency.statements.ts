import type { Statement } from '../database/database.js';
import {
  batchInput,
  insertStatement,
  postgresType,
  type TableColumns,
} from '../database/table-statements.js';

/** How long PostgreSQL waits for an unfinished request with the same key. */
export const LOCK_TIMEOUT = '50ms';

const FIND_TEXT = `SELECT body_digest AS "bodyDigest", answer FROM idempotency_records
  WHERE key_id = $1 AND idempotency_key = $2 AND created_at > $3`;
export const FIND: Statement = { name: 'idempotency.find', sqlite: FIND_TEXT, postgres: FIND_TEXT };

/**
 * Inserts a row with a generated `id`, and the record of the response `{"id": ..., <members>}`, in
 * one transaction. It returns the id. A repeat inserts nothing: it violates the primary key of the
 * records. A repeat of a finished request returns no row on PostgreSQL, so that it does not affect
 * the other inserts of its tick.
 *
 * PostgreSQL cannot say which of the inserted rows belongs to which request. Ids ascend in the
 * order of the insert, so both are numbered and joined by their number.
 * @param columns of its first parameters; then follow the key id, the idempotency key, the body
 *   digest, the text of the response after the id, and the time
 */
export function insertOnceStatement(name: string, table: string, columns: TableColumns): Statement {
  const record =
    'INSERT INTO idempotency_records (key_id, idempotency_key, body_digest, answer, created_at)';
  const names = columns.map(({ column }) => column).join(', ');
  const [keyId, key, digest, rest, now] = [1, 2, 3, 4, 5].map((n) => `$${columns.length + n}`);
  const input = batchInput(
    [names, 'key_id', 'idempotency_key', 'body_digest', 'rest', 'requested_at'],
    [...columns.map(postgresType), 'text', 'text', 'text', 'text', 'bigint'],
  );
  return {
    name,
    sqlite: [
      insertStatement(name, table, columns).sqlite as string,
      `${record} VALUES (${keyId}, ${key}, ${digest}, '{"id":' || last_insert_rowid() || ${rest}, ${now})`,
    ],
    // The setting ends with the transaction, which is this statement. It is read before the insert
    // that may wait.
    postgres: `WITH setting AS MATERIALIZED (SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}', true)),
      input AS MATERIALIZED (SELECT input.* FROM setting, ${input}),
      fresh AS (
        SELECT *, row_number() OVER (ORDER BY ordinal) AS number FROM input WHERE NOT EXISTS (
          SELECT FROM idempotency_records known
          WHERE known.key_id = input.key_id AND known.idempotency_key = input.idempotency_key)),
      created AS (
        INSERT INTO ${table} (${names}) SELECT ${names} FROM fresh ORDER BY number RETURNING id),
      numbered AS (SELECT id, row_number() OVER (ORDER BY id) AS number FROM created),
      recorded AS (
        ${record} SELECT key_id, idempotency_key, body_digest, '{"id":' || id || rest, requested_at
        FROM fresh JOIN numbered USING (number))
      SELECT numbered.id FROM input LEFT JOIN fresh USING (ordinal) LEFT JOIN numbered USING (number)
      ORDER BY ordinal`,
    isBatched: true,
  };
}
