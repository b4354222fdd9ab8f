import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { databaseNow } from '../database/database-time.js';
import { Logger } from '../telemetry/logger.js';
import { mintId } from './api-key-format.js';
import { type AuditRecord, type Change, type Initiator, isoTime } from './audit-record.js';
import { StoredAuditRecord } from './audit-record.entity.js';

/** A transaction whose changes are audited. */
export interface AuditedTransaction {
  manager: EntityManager;
  /** The time of the transaction by the database's clock: Unix milliseconds. */
  nowMs: number;
  /** Inserts the audit record of a change. */
  record: (change: Change) => Promise<void>;
}

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
      const nowMs = await this.readClock(manager);
      const record = async (change: Change): Promise<void> => {
        records.push(await insert(manager, nowMs, by, change));
      };
      return work({ manager, nowMs, record });
    });
    for (const audit of records) this.log(audit);
    return result;
  }

  private async readClock(manager: EntityManager): Promise<number> {
    const now = databaseNow(this.dataSource);
    const rows: { now: number | string }[] = await manager.query(`SELECT ${now} AS "now"`);
    return Number(rows[0]!.now);
  }

  private log(audit: AuditRecord): void {
    const { actor, action, target, requestId } = audit;
    const request = requestId === null ? {} : { requestId };
    this.logger.info(
      { event: 'audit', ...request, audit },
      `Audit: ${actor.name} ${action} ${target}`,
    );
  }
}

async function insert(
  manager: EntityManager,
  nowMs: number,
  by: Initiator,
  change: Change,
): Promise<AuditRecord> {
  const { actor, ...request } = by;
  const id = mintId('aud');
  const stored = { id, at: nowMs, actorType: actor.type, actorName: actor.name };
  await manager.insert(StoredAuditRecord, { ...stored, ...request, ...change });
  return { id, at: isoTime(nowMs)!, ...by, ...change };
}
