import { Injectable } from '@nestjs/common';
import { DataSource, In, LessThan } from 'typeorm';
import { Database, rowsStatement } from '../database/database.js';
import { deleteInBatches } from '../database/in-batches.js';
import type { ApiKey } from '../keys/api-key.entity.js';
import { HOUR_MS } from '../time/windows.js';
import { append, type Refusal, UsageHour, UsageRefusals } from './usage.entities.js';

/** Processes whose latest refusals are read: each start of a server is one. */
const MAX_PROCESSES = 100;

export interface PlanCount {
  plan: string;
  admitted: number;
  rejected: number;
}

type UsingClient = Pick<ApiKey, 'clientId' | 'plan' | 'perMinute' | 'perDay'> & { keys: number };

const ADD_COUNTS = rowsStatement(
  'usage.add-counts',
  (elements) => `
  INSERT INTO usage_hours (hour, client_id, status, code, used)
  SELECT CAST(entry.value ->> 0 AS bigint), entry.value ->> 1,
    CAST(entry.value ->> 2 AS integer), entry.value ->> 3, CAST(entry.value ->> 4 AS bigint)
  FROM ${elements}($1) entry
  WHERE true ORDER BY 1, 2, 3, 4
  ON CONFLICT (hour, client_id, status, code) DO UPDATE
  SET used = usage_hours.used + excluded.used`,
);

/** Stores how much clients have used, by hour and outcome. */
@Injectable()
export class UsageRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
  ) {}

  /**
   * Adds counts to those that are stored. Rows are locked in the same order by every node.
   */
  async addCounts(counts: readonly UsageHour[]): Promise<void> {
    const rows = counts.map((c) => [c.hour, c.clientId, c.status, c.code, c.used]);
    await this.database.write(ADD_COUNTS, JSON.stringify(rows));
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

  async saveRefusals(rows: UsageRefusals[]): Promise<void> {
    await this.dataSource.manager.upsert(UsageRefusals, rows, ['clientId', 'writer']);
  }

  /** Returns the outcomes of a client in these hours, the oldest first. */
  find(clientId: string, hours: readonly number[]): Promise<UsageHour[]> {
    const where = { clientId, hour: In(hours) };
    return this.dataSource.manager.find(UsageHour, { where, order: { hour: 'ASC' } });
  }

  /** Returns the groups of rejected requests with one at or after a time, the latest first. */
  async findRefusals(clientId: string, sinceMs: number): Promise<Refusal[]> {
    const rows = await this.dataSource.manager.find(UsageRefusals, {
      where: { clientId },
      order: { at: 'DESC' },
      take: MAX_PROCESSES,
    });
    return rows
      .flatMap(({ refusals }) => refusals)
      .filter(({ at }) => at >= sinceMs)
      .sort((one, other) => one.at - other.at)
      .reduce<Refusal[]>(append, [])
      .reverse();
  }

  /** Deletes what is older than a time in Unix milliseconds. */
  async deleteBefore(ms: number, stop: AbortSignal): Promise<void> {
    const hours = this.dataSource.getRepository(UsageHour);
    await deleteInBatches(hours, 'hour < :hour', { hour: Math.floor(ms / HOUR_MS) }, stop);
    if (stop.aborted) return;
    await this.dataSource.manager.delete(UsageRefusals, { at: LessThan(ms) });
  }
}
