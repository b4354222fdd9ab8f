import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { databaseNow } from '../database/database-time.js';
import { Logger } from '../telemetry/logger.js';
import { mintId } from './api-key-format.js';
import {
  type AuditAction,
  AuditRecord,
  type Initiator,
  isoTime,
  type State,
} from './audit-record.entity.js';

/** A transaction whose changes are audited. */
export interface AuditedTransaction {
  manager: EntityManager;
  /** The time of the transaction by the clock of the database: Unix milliseconds. */
  nowMs: number;
  /** Inserts the audit record of a change. @param before null if the target is new */
  record: (
    action: AuditAction,
    target: string,
    before: State | null,
    after: State,
  ) => Promise<void>;
}

const OF_KEY = `record.target = :keyId OR (record.action = 'key.rotate'
  AND record.target = (SELECT old.id FROM api_keys old WHERE old.replaced_by = :keyId))`;

/** Saves changes and their audit records in one transaction, and logs the records after the commit. */
@Injectable()
export class AuditTrail {
  constructor(
    private readonly dataSource: DataSource,
    private readonly logger: Logger,
  ) {}

  async write<Result>(
    by: Initiator,
    work: (transaction: AuditedTransaction) => Promise<Result>,
  ): Promise<Result> {
    const records: AuditRecord[] = [];
    const result = await this.dataSource.transaction(async (manager) => {
      const now = databaseNow(this.dataSource);
      const [row] = await manager.query<{ now: number | string }[]>(`SELECT ${now} AS "now"`);
      const nowMs = Number(row!.now);
      return work({
        manager,
        nowMs,
        record: async (action, target, before, after) => {
          const id = mintId('aud');
          const saved = { id, at: isoTime(nowMs)!, action, ...by, target, before, after };
          await manager.insert(AuditRecord, saved);
          records.push(saved);
        },
      });
    });
    for (const audit of records) {
      const { actor, action, target, requestId } = audit;
      const request = requestId === null ? {} : { requestId };
      const message = `Audit: ${actor.name} ${action} ${target}`;
      this.logger.info({ event: 'audit', ...request, audit }, message);
    }
    return result;
  }

  /**
   * Returns audit records, the latest first.
   * @param keyId only records of this key, including the rotation that created it
   */
  find(keyId: string | undefined, limit: number): Promise<AuditRecord[]> {
    const query = this.dataSource
      .createQueryBuilder(AuditRecord, 'record')
      .orderBy('record.at', 'DESC')
      .addOrderBy('record.id', 'DESC')
      .limit(limit);
    if (keyId !== undefined) query.where(OF_KEY, { keyId });
    return query.getMany();
  }
}
