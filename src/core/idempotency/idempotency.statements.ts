import { sameStatement, type Statement } from '../database/database.js';

/** How long PostgreSQL waits for an unfinished request with the same key. */
const LOCK_TIMEOUT = '50ms';

/**
 * Finds a record. Parameters: client, key, time after which it was created. On PostgreSQL, LIMIT
 * keeps a plan that was made when the table was empty from reading all of it.
 */
export const FIND: Statement = {
  name: 'idempotency.find',
  sqlite: `SELECT body_digest AS "bodyDigest", response FROM idempotency_records
    WHERE client_id = $1 AND idempotency_key = $2 AND created_at > $3`,
  postgres: `SELECT found.* FROM unnest($1::text[], $2::text[], $3::bigint[])
      WITH ORDINALITY AS input(client, wanted, expired, ordinal)
    LEFT JOIN LATERAL (
      SELECT body_digest AS "bodyDigest", response FROM idempotency_records
      WHERE client_id = client AND idempotency_key = wanted AND created_at > expired
      LIMIT 1) found ON true
    ORDER BY ordinal`,
  isBatched: true,
};

const COLUMNS = '(client_id, idempotency_key, body_digest, created_at, response)';
/** Takes over an expired record. */
const ON_CONFLICT = `ON CONFLICT (client_id, idempotency_key) DO UPDATE
    SET body_digest = excluded.body_digest, created_at = excluded.created_at,
      response = excluded.response
    WHERE idempotency_records.created_at <=`;

/**
 * Inserts a record without a response, and returns a row unless there is a record. Parameters:
 * client, key, digest of the body, time, time of expiry. On PostgreSQL, the lock timeout applies to
 * this statement; if there is a record, the rollback resets it.
 */
export const CLAIM: Statement = {
  name: 'idempotency.claim',
  sqlite: `INSERT INTO idempotency_records ${COLUMNS} VALUES ($1, $2, $3, $4, '')
    ${ON_CONFLICT} $5 RETURNING 1`,
  postgres: `WITH waiting AS MATERIALIZED (
      SELECT current_setting('lock_timeout') AS usual,
        set_config('lock_timeout', '${LOCK_TIMEOUT}', true)),
    claimed AS (
      INSERT INTO idempotency_records ${COLUMNS}
      SELECT $1, $2, $3, CAST($4 AS bigint), '' FROM waiting
      ${ON_CONFLICT} CAST($5 AS bigint) RETURNING 1)
    SELECT set_config('lock_timeout', usual, true) FROM claimed, waiting`,
};

/** Stores the response in a record. Parameters: response, client, key. */
export const STORE = sameStatement(
  'idempotency.store',
  `UPDATE idempotency_records SET response = $1
    WHERE client_id = $2 AND idempotency_key = $3`,
);
