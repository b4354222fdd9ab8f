import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { afterCommit } from '../database/transactions.js';
import { databaseNow } from '../database/database-time.js';
import { Logger } from '../telemetry/logger.js';
import { isoTime } from '../time/windows.js';
import { mintId } from './api-key-format.js';
import { type AuditedChange, AuditRecord, type Initiator } from './audit-record.entity.js';

/** A transaction whose changes are audited. */
export interface AuditedTransaction {
  manager: EntityManager;
  /** The time of the transaction by the clock of the database: Unix milliseconds. */
  nowMs: number;
  /** Inserts the audit record of a change. */
  record: (change: AuditedChange) => Promise<void>;
}

const OF_KEY = `record.target = :keyId OR (record.action = 'key.rotate'
  AND record.target = (SELECT old.id FROM api_keys old WHERE old.replaced_by = :keyId))`;

const OLDER = `(record.at, record.id) <
  (SELECT later.at, later.id FROM audit_records later WHERE later.id = :before)`;

/**
 * Saves changes and their audit records in one transaction, and logs the records after the commit.
 */
@Injectable()
export class AuditTrail {
  constructor(
    private readonly dataSource: DataSource,
    private readonly logger: Logger,
  ) {}

  write<Result>(
    by: Initiator,
    work: (transaction: AuditedTransaction) => Promise<Result>,
  ): Promise<Result> {
    return this.dataSource.transaction(async (manager) => {
      const now = databaseNow(this.dataSource);
      const [row] = await manager.query<{ now: number | string }[]>(`SELECT ${now} AS "now"`);
      const nowMs = Number(row!.now);
      const record = async (change: AuditedChange): Promise<void> => {
        const audit = { id: mintId('aud'), at: isoTime(nowMs), ...by, ...change };
        await manager.insert(AuditRecord, audit);
        afterCommit(manager, () => this.log(audit));
      };
      return work({ manager, nowMs, record });
    });
  }

  /**
   * Returns audit records, the latest first.
   * @param keyId only records of this key, including the rotation that created it
   * @param before only records that are older than the one with this id
   */
  find(keyId: string | undefined, limit: number, before?: string): Promise<AuditRecord[]> {
    const query = this.dataSource
      .createQueryBuilder(AuditRecord, 'record')
      .orderBy('record.at', 'DESC')
      .addOrderBy('record.id', 'DESC')
      .limit(limit);
    if (keyId !== undefined) query.andWhere(`(${OF_KEY})`, { keyId });
    if (before !== undefined) query.andWhere(OLDER, { before });
    return query.getMany();
  }

  has(id: string): Promise<boolean> {
    return this.dataSource.manager.existsBy(AuditRecord, { id });
  }

  private log(audit: AuditRecord): void {
    const { actor, action, target, requestId } = audit;
    const message = `Audit: ${actor.name} ${action} ${target}`;
    this.logger.info({ event: 'audit', requestId: requestId ?? undefined, audit }, message);
  }
}
