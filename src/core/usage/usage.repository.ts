import { Injectable } from '@nestjs/common';
import { DataSource, In, MoreThanOrEqual } from 'typeorm';
import {
  Database,
  type Parameter,
  rowsStatement,
  sameStatement,
  type Statement,
} from '../database/database.js';
import { deleteInBatches, pause } from '../database/in-batches.js';
import type { Plans } from '../rate-limits/plan.js';
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../time/windows.js';
import { RejectedGroup, UsageHour } from './usage.entities.js';

interface PlanCount {
  plan: string;
  admitted: number;
  rejected: number;
}

export interface OperationCount extends PlanCount {
  client: string;
  operation: string;
}

/** A client that has used a large share of its limit in the current minute or day. */
export interface NearLimit {
  /** The latest valid key of the client. */
  keyId: string;
  clientId: string;
  name: string;
  plan: string;
  window: 'minute' | 'day';
  used: number;
  limit: number;
}

/**
 * A row of a batch. `last` is the last client of the batch, null if no batch follows. A batch
 * without results has one row, without a plan.
 */
type BatchRow<Row> = Row & { last?: string | null; plan: string | null };

/**
 * Clients in a batch. SQLite runs in this process: a batch delays requests by a few milliseconds,
 * even if each of 100,000 clients is near its limit.
 */
const BATCH = 250;
export const MAX_NEAR_LIMIT = 50;
const lastOf = (column: string): string =>
  `(SELECT CASE WHEN COUNT(*) = ${BATCH} THEN MAX(${column}) END AS last FROM part) batch`;

/** A rejection of an address, too, comes before the quota. */
const ADMITTED = `SUM(CASE WHEN status IN (401, 429, 503) OR code = 'address_not_allowed'
  THEN 0 ELSE used END)`;
const REJECTED = 'SUM(CASE WHEN status = 429 THEN used ELSE 0 END)';
const COUNT_BY_OPERATION = sameStatement(
  'usage.count-by-operation',
  `SELECT client_id AS client, plan, operation, CAST(${ADMITTED} AS double precision) AS admitted,
    CAST(${REJECTED} AS double precision) AS rejected
  FROM usage_hours WHERE hour = $1
  GROUP BY client_id, plan, operation ORDER BY client_id, plan, operation`,
);
const COUNT_BY_PLAN = sameStatement(
  'usage.count-by-plan',
  `WITH part AS (
    SELECT DISTINCT hour, client_id FROM usage_hours WHERE hour = $1 AND client_id > $2
    ORDER BY client_id LIMIT ${BATCH})
  SELECT batch.last AS "last", plan, CAST(${ADMITTED} AS double precision) AS admitted,
    CAST(${REJECTED} AS double precision) AS rejected
  FROM ${lastOf('client_id')} LEFT JOIN part ON 1 = 1
  LEFT JOIN usage_hours USING (hour, client_id)
  GROUP BY batch.last, plan`,
);

/** A client is at most twice among the rows, once for each window. */
const nearLimit = (elements: string): string => `
  WITH plans AS MATERIALIZED (
    SELECT entry.value ->> 0 AS plan, CAST(entry.value ->> 1 AS bigint) AS per_minute,
      CAST(entry.value ->> 2 AS bigint) AS per_day FROM ${elements}($1) entry),
  clock AS (SELECT CAST($2 AS bigint) AS ms),
  part AS (
    SELECT * FROM rate_limit_counters WHERE rate_limit_key > $3
    ORDER BY rate_limit_key LIMIT ${BATCH}),
  counts AS MATERIALIZED (
    SELECT key.id, key.client_id, key.name, key.plan, part.day_used,
      CASE WHEN part.minute = clock.ms / ${MINUTE_MS}
        THEN part.minute_used ELSE 0 END AS minute_used,
      COALESCE(plans.per_minute, key.per_minute) AS per_minute,
      COALESCE(plans.per_day, key.per_day) AS per_day
    FROM part CROSS JOIN clock JOIN api_keys key ON key.id = (
      SELECT latest.id FROM api_keys latest
      WHERE latest.client_id = part.rate_limit_key AND latest.revoked_at IS NULL
        AND latest.disabled_at IS NULL
        AND (latest.expires_at IS NULL OR latest.expires_at > clock.ms)
      ORDER BY latest.created_at DESC, latest.id DESC LIMIT 1)
    LEFT JOIN plans ON plans.plan = key.plan
    WHERE part.day = clock.ms / ${DAY_MS}),
  uses AS (
    SELECT id, client_id, name, plan, 'day' AS kind, day_used AS used, per_day AS most FROM counts
    UNION ALL
    SELECT id, client_id, name, plan, 'minute', minute_used, per_minute FROM counts)
  SELECT batch.last AS "last", near.* FROM ${lastOf('rate_limit_key')} LEFT JOIN (
    SELECT id AS "keyId", client_id AS "clientId", name, plan, kind AS "window",
      CAST(used AS double precision) AS used, CAST(most AS double precision) AS "limit"
    FROM uses WHERE used * 5 > most * 4
    ORDER BY used * 1.0 / most DESC, kind LIMIT ${2 * MAX_NEAR_LIMIT}) near ON 1 = 1`;
const NEAR_LIMIT: Statement = {
  name: 'usage.near-limit',
  sqlite: nearLimit('json_each'),
  postgres: nearLimit('json_array_elements'),
};

const ADD_HOURS = rowsStatement(
  'usage.add-hours',
  (elements) => `
  INSERT INTO usage_hours (hour, client_id, plan, operation, status, code, used)
  SELECT CAST(entry.value ->> 'hour' AS bigint), entry.value ->> 'clientId',
    entry.value ->> 'plan', entry.value ->> 'operation',
    CAST(entry.value ->> 'status' AS integer), entry.value ->> 'code',
    CAST(entry.value ->> 'used' AS bigint)
  FROM ${elements}($1) entry
  WHERE true ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (hour, client_id, plan, operation, status, code) DO UPDATE
  SET used = usage_hours.used + excluded.used`,
);

const ADD_REJECTED = rowsStatement(
  'usage.add-rejected',
  (elements) => `
  INSERT INTO rejected_requests AS r (day, client_id, code, operation, address, full_window,
    key_id, count, first_at, latest_at)
  SELECT CAST(entry.value ->> 'day' AS bigint), entry.value ->> 'clientId',
    entry.value ->> 'code', entry.value ->> 'operation', entry.value ->> 'address',
    entry.value ->> 'window', entry.value ->> 'keyId', CAST(entry.value ->> 'count' AS bigint),
    CAST(entry.value ->> 'firstAt' AS bigint), CAST(entry.value ->> 'at' AS bigint)
  FROM ${elements}($1) entry
  WHERE true ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (day, client_id, code, operation, address, full_window) DO UPDATE SET
    count = r.count + excluded.count,
    first_at = CASE WHEN excluded.first_at < r.first_at THEN excluded.first_at ELSE r.first_at END,
    key_id = CASE WHEN excluded.latest_at > r.latest_at THEN excluded.key_id ELSE r.key_id END,
    latest_at = CASE WHEN excluded.latest_at > r.latest_at
      THEN excluded.latest_at ELSE r.latest_at END`,
);

/** Groups that are kept per client: each address that a client invents is another one. */
const KEPT_GROUPS = 100;
const TRIM_REJECTED = rowsStatement(
  'usage.trim-rejected',
  (elements) => `
  DELETE FROM rejected_requests WHERE (day, client_id, code, operation, address, full_window) IN (
    SELECT day, client_id, code, operation, address, full_window
    FROM ${elements}($1) entry JOIN rejected_requests ON client_id = entry.value ->> 'clientId'
    WHERE latest_at < (
      SELECT latest_at FROM rejected_requests WHERE client_id = entry.value ->> 'clientId'
      ORDER BY latest_at DESC LIMIT 1 OFFSET ${KEPT_GROUPS - 1}))`,
);

/**
 * Stores the requests of clients by hour and outcome, and the rejected ones by group. Every node
 * locks the rows of a statement in the same order.
 */
@Injectable()
export class UsageRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
  ) {}

  /** Adds counts to the stored ones. */
  async addHours(counts: readonly UsageHour[]): Promise<void> {
    await this.database.write(ADD_HOURS, JSON.stringify(counts));
  }

  /** Adds rejected requests to the stored groups. */
  async addRejected(groups: readonly RejectedGroup[]): Promise<void> {
    await this.database.write(ADD_REJECTED, JSON.stringify(groups));
  }

  /** Deletes all but the latest groups of the clients of these groups. */
  async trimRejected(groups: readonly RejectedGroup[]): Promise<void> {
    await this.database.write(TRIM_REJECTED, JSON.stringify(groups));
  }

  /**
   * Sums the requests of an hour by their plan at that time: rejected with 429, and admitted by the
   * quota.
   */
  async countByPlan(hour: number): Promise<PlanCount[]> {
    const sums = new Map<string, PlanCount>();
    for await (const batch of this.inBatches<PlanCount>(COUNT_BY_PLAN, hour)) {
      for (const { plan, admitted, rejected } of batch) {
        const sum = sums.get(plan) ?? { plan, admitted: 0, rejected: 0 };
        sum.admitted += admitted;
        sum.rejected += rejected;
        sums.set(plan, sum);
      }
    }
    return [...sums.values()].sort((one, other) => one.plan.localeCompare(other.plan));
  }

  /**
   * Sums the requests of an hour by client, plan and operation: rejected with 429, and admitted by
   * the quota.
   */
  countByOperation(hour: number): Promise<OperationCount[]> {
    return this.database.query<OperationCount>(COUNT_BY_OPERATION, hour);
  }

  /**
   * Returns the clients with a valid key that have used more than 80 % of a limit, each with its
   * fullest window: the fullest first, at most 50.
   */
  async findNearLimit(plans: Plans, nowMs: number): Promise<NearLimit[]> {
    const limits = plans.names.map((name) => {
      const { perMinute, perDay } = plans.of(name) ?? {};
      return [name, perMinute, perDay];
    });
    const batches = this.inBatches<NearLimit>(NEAR_LIMIT, JSON.stringify(limits), nowMs);
    let found: NearLimit[] = [];
    for await (const batch of batches) found = fullest([...found, ...batch]);
    return found;
  }

  /** Runs a statement for each batch of clients, with a pause for requests between them. */
  private async *inBatches<Row>(statement: Statement, ...parameters: Parameter[]) {
    for (let after: string | null = ''; after !== null; await pause()) {
      const rows: BatchRow<Row>[] = await this.database.query(statement, ...parameters, after);
      after = rows[0]!.last ?? null;
      for (const row of rows) delete row.last;
      yield rows.filter(({ plan }) => plan !== null);
    }
  }

  /** Returns the outcomes of a client in these hours, the oldest first. */
  find(clientId: string, hours: readonly number[]): Promise<UsageHour[]> {
    const where = { clientId, hour: In(hours) };
    return this.dataSource.manager.find(UsageHour, { where, order: { hour: 'ASC' } });
  }

  /** Returns the latest groups with a request at or after a time, newest first. */
  findRejected(clientId: string, sinceMs: number, limit: number): Promise<RejectedGroup[]> {
    const where = { clientId, at: MoreThanOrEqual(sinceMs) };
    return this.dataSource.manager.find(RejectedGroup, {
      where,
      order: { at: 'DESC' },
      take: limit,
    });
  }

  /** Deletes what is older than a time in Unix milliseconds. */
  async deleteBefore(ms: number, stop: AbortSignal): Promise<void> {
    const hours = this.dataSource.getRepository(UsageHour);
    await deleteInBatches(hours, 'hour < :hour', { hour: Math.floor(ms / HOUR_MS) }, stop);
    const groups = this.dataSource.getRepository(RejectedGroup);
    await deleteInBatches(groups, 'day < :day', { day: dayOf(ms) }, stop);
  }
}

/** Returns each client once, with its fullest window: the fullest first, at most 50. */
function fullest(uses: NearLimit[]): NearLimit[] {
  const clients = new Map<string, NearLimit>();
  uses.sort((one, other) => other.used / other.limit - one.used / one.limit);
  for (const use of uses) {
    if (!clients.has(use.clientId)) clients.set(use.clientId, use);
  }
  return [...clients.values()].slice(0, MAX_NEAR_LIMIT);
}
