import { type Dialect, run, Statement, type Work } from '../database/statement.js';
import type { PlanName } from '../rate-limits/plan.js';
import { digestOf } from './api-key-format.js';

const INSERT = new Statement(
  'keys.insert',
  ({ nowMs }) => `INSERT INTO api_keys (id, client_id, name, digest, last_four, plan, scopes,
      per_minute, per_day, created_at, expires_at, changed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, ${nowMs})`,
);
/** Later than the last change, whatever the clock says: who knows the key as of a moment knows it well. */
const changedAt = ({ nowMs }: Dialect): string =>
  `changed_at = CASE WHEN changed_at < ${nowMs} THEN ${nowMs} ELSE changed_at + 1 END`;
export const REVOKE = new Statement<{ revokedAt: Count }>(
  'keys.revoke',
  (dialect) => `UPDATE api_keys SET revoked_at = $1, ${changedAt(dialect)}
    WHERE id = $2 AND revoked_at IS NULL RETURNING revoked_at AS "revokedAt"`,
);
/** Of a client whose keys are as they are to be: a node that missed the change, as one committed late, sees it now. */
export const TELL_AGAIN = new Statement(
  'keys.tell-again',
  (dialect) => `UPDATE api_keys SET ${changedAt(dialect)} WHERE client_id = $1`,
);
/** The keys of a client that have another plan. */
export const WITH_OTHER_PLAN = new Statement<PlanRow>(
  'keys.with-other-plan',
  () => `SELECT id, plan, per_minute AS "perMinute", per_day AS "perDay" FROM api_keys
    WHERE client_id = $1 AND (plan <> $2 OR per_minute IS DISTINCT FROM CAST($3 AS bigint)
      OR per_day IS DISTINCT FROM CAST($4 AS bigint)) ORDER BY id`,
);
/** Only where the plan is still the one that was read. */
export const SET_PLAN = new Statement<{ id: string }>(
  'keys.set-plan',
  (dialect) => `UPDATE api_keys
    SET plan = $1, per_minute = $2, per_day = $3, ${changedAt(dialect)}
    WHERE id = $4 AND plan = $5 AND per_minute IS NOT DISTINCT FROM CAST($6 AS bigint)
      AND per_day IS NOT DISTINCT FROM CAST($7 AS bigint)
    RETURNING id`,
);
export const SCOPES_OF = new Statement<{ scopes: string }>(
  'keys.scopes-of',
  () => 'SELECT scopes FROM api_keys WHERE id = $1',
);
/** Only where the scopes are still those that were read. */
export const SET_SCOPES = new Statement<{ id: string }>(
  'keys.set-scopes',
  (dialect) => `UPDATE api_keys SET scopes = $1, ${changedAt(dialect)}
    WHERE id = $2 AND scopes = $3 RETURNING id`,
);
/** Of two rotations at once, the second finds the key replaced. */
export const REPLACE = new Statement<Copied>(
  'keys.replace',
  () => `UPDATE api_keys SET replaced_by = $1
    WHERE id = $2 AND replaced_by IS NULL AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > $3)
    RETURNING client_id AS "clientId", name, plan, scopes, per_minute AS "perMinute",
      per_day AS "perDay", expires_at AS "expiresAt"`,
);
export const END = new Statement<{ expiresAt: Count }>(
  'keys.end',
  (dialect) => `UPDATE api_keys SET ${changedAt(dialect)}, expires_at =
      CASE WHEN expires_at < $1 THEN expires_at ELSE CAST($2 AS bigint) END
    WHERE id = $3 RETURNING expires_at AS "expiresAt"`,
);

type Count = number | string | null;

export interface PlanRow {
  id: string;
  plan: PlanName;
  perMinute: Count;
  perDay: Count;
}

/** What a key has in common with the one that it replaces. */
export interface Copied {
  clientId: string;
  name: string;
  plan: PlanName;
  scopes: string;
  perMinute: Count;
  perDay: Count;
  expiresAt: Count;
}

export interface NewRow extends Copied {
  id: string;
  key: string;
  nowMs: number;
}

export function* insert(row: NewRow): Work<void> {
  const { id, clientId, name, key, plan, scopes, perMinute, perDay, nowMs, expiresAt } = row;
  const secret = [digestOf(key), key.slice(-4)] as const;
  const limits = [perMinute, perDay] as const;
  yield* run(INSERT, id, clientId, name, ...secret, plan, scopes, ...limits, nowMs, expiresAt);
}
