import { Injectable } from '@nestjs/common';
import { DataSource, In, MoreThanOrEqual } from 'typeorm';
import { Database, rowsStatement } from '../database/database.js';
import { deleteInBatches } from '../database/in-batches.js';
import type { ApiKey } from '../keys/api-key.entity.js';
import { dayOf, HOUR_MS } from '../time/windows.js';
import { RejectedGroup, UsageHour } from './usage.entities.js';

export interface PlanCount {
  plan: string;
  admitted: number;
  rejected: number;
}

export interface OperationCount extends PlanCount {
  client: string;
  operation: string;
}

type UsingClient = Pick<ApiKey, 'clientId' | 'plan' | 'perMinute' | 'perDay'> & { keys: number };

const ADD_HOURS = rowsStatement(
  'usage.add-hours',
  (elements) => `
  INSERT INTO usage_hours (hour, client_id, plan, operation, status, code, used)
  SELECT CAST(entry.value ->> 0 AS bigint), entry.value ->> 1, entry.value ->> 2,
    entry.value ->> 3, CAST(entry.value ->> 4 AS integer), entry.value ->> 5,
    CAST(entry.value ->> 6 AS bigint)
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
  SELECT CAST(entry.value ->> 0 AS bigint), entry.value ->> 1, entry.value ->> 2,
    entry.value ->> 3, entry.value ->> 4, entry.value ->> 5, entry.value ->> 6,
    CAST(entry.value ->> 7 AS bigint), CAST(entry.value ->> 8 AS bigint),
    CAST(entry.value ->> 9 AS bigint)
  FROM ${elements}($1) entry
  WHERE true ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (day, client_id, code, operation, address, full_window) DO UPDATE SET
    count = r.count + excluded.count,
    first_at = CASE WHEN excluded.first_at < r.first_at THEN excluded.first_at ELSE r.first_at END,
    key_id = CASE WHEN excluded.latest_at > r.latest_at THEN excluded.key_id ELSE r.key_id END,
    latest_at = CASE WHEN excluded.latest_at > r.latest_at
      THEN excluded.latest_at ELSE r.latest_at END`,
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
    const rows = counts.map((c) => {
      return [c.hour, c.clientId, c.plan, c.operation, c.status, c.code, c.used];
    });
    await this.database.write(ADD_HOURS, JSON.stringify(rows));
  }

  /** Adds rejected requests to the stored groups. */
  async addRejected(groups: readonly RejectedGroup[]): Promise<void> {
    const rows = groups.map((g) => {
      const key = [g.day, g.clientId, g.code, g.operation, g.address, g.window];
      return [...key, g.keyId, g.count, g.firstAt, g.at];
    });
    await this.database.write(ADD_REJECTED, JSON.stringify(rows));
  }

  /** Sums the requests of an hour by plan: rejected with 429, and admitted by the quota. */
  countByPlan(hour: number): Promise<PlanCount[]> {
    return this.dataSource.sql`
      SELECT key.plan AS plan,
        CAST(SUM(CASE WHEN status IN (401, 429, 503) THEN 0 ELSE used END) AS double precision)
          AS admitted,
        CAST(SUM(CASE WHEN status = 429 THEN used ELSE 0 END) AS double precision) AS rejected
      FROM usage_hours JOIN api_keys key ON key.id = usage_hours.client_id
      WHERE hour = ${hour} GROUP BY key.plan ORDER BY key.plan`;
  }

  /**
   * Sums the requests of an hour by client, plan and operation: rejected with 429, and admitted by
   * the quota.
   */
  countByOperation(hour: number): Promise<OperationCount[]> {
    return this.dataSource.sql`
      SELECT client_id AS client, plan, operation,
        CAST(SUM(CASE WHEN status IN (401, 429, 503) OR code = 'address_not_allowed'
          THEN 0 ELSE used END) AS double precision) AS admitted,
        CAST(SUM(CASE WHEN status = 429 THEN used ELSE 0 END) AS double precision) AS rejected
      FROM usage_hours WHERE hour = ${hour}
      GROUP BY client_id, plan, operation ORDER BY client_id, plan, operation`;
  }

  /** Returns the clients that sent requests since an hour began, with their valid keys. */
  clientsSince(hour: number, nowMs: number): Promise<UsingClient[]> {
    return this.dataSource.sql`
      SELECT key.client_id AS "clientId", key.plan AS plan,
        CAST(COUNT(DISTINCT key.id) AS double precision) AS keys,
        CAST(key.per_minute AS double precision) AS "perMinute",
        CAST(key.per_day AS double precision) AS "perDay"
      FROM usage_hours JOIN api_keys key ON key.client_id = usage_hours.client_id
      WHERE hour >= ${hour} AND key.revoked_at IS NULL AND key.disabled_at IS NULL
        AND (key.expires_at IS NULL OR key.expires_at > ${nowMs})
      GROUP BY key.client_id, key.plan, key.per_minute, key.per_day`;
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
