import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { afterCommit } from '../database/transactions.js';
import { databaseNow } from '../database/database-time.js';
import { Logger } from '../telemetry/logger.js';
import { isoTime } from '../time/windows.js';
import { mintId } from './api-key-format.js';
import {
  type AuditAction,
  type AuditedChange,
  AuditRecord,
  type Initiator,
} from './audit-record.entity.js';

/** A transaction whose changes are audited. */
export interface AuditedTransaction {
  manager: EntityManager;
  /** The time by the clock of the database, in Unix milliseconds: first that of the start. */
  nowMs: number;
  /** Sets `nowMs`, after a wait for a lock: changes of other transactions are earlier. */
  updateTime: () => Promise<void>;
  /** Inserts the audit record of a change that took effect at `atMs`, by default at `nowMs`. */
  record: (change: AuditedChange, atMs?: number) => Promise<void>;
}

interface AuditFilter {
  /** Only records of this key, including the rotation that created it. */
  keyId?: string | undefined;
  /** Only records of this key and of the keys that it succeeded. */
  chainOf?: string | undefined;
  action?: AuditAction | undefined;
  /** The name of the actor. */
  actor?: string | undefined;
  /** Only records that are older than the one with this id. */
  before?: string | undefined;
}

/** The condition of each filter that is given. */
const CONDITIONS = {
  keyId: `(record.target = :keyId OR (record.action = 'key.rotate'
    AND record.target = (SELECT old.id FROM api_keys old WHERE old.replaced_by = :keyId)))`,
  chainOf: `record.target IN (WITH RECURSIVE chain(id) AS (
    SELECT CAST(:chainOf AS varchar)
    UNION SELECT key.id FROM chain JOIN api_keys key ON key.replaced_by = chain.id
  ) SELECT id FROM chain)`,
  action: 'record.action = :action',
  actor: 'record.actor_name = :actor',
  before: `(record.at, record.id) <
  (SELECT later.at, later.id FROM audit_records later WHERE later.id = :before)`,
};

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
      const transaction: AuditedTransaction = {
        manager,
        nowMs: 0,
        updateTime: async () => {
          const now = databaseNow(this.dataSource);
          const [row] = await manager.query<{ now: number | string }[]>(`SELECT ${now} AS "now"`);
          transaction.nowMs = Number(row!.now);
        },
        record: async (change, atMs = transaction.nowMs) => {
          const audit = { id: mintId('aud'), at: isoTime(atMs), ...by, ...change };
          await manager.insert(AuditRecord, audit);
          afterCommit(manager, () => this.log(audit));
        },
      };
      await transaction.updateTime();
      return work(transaction);
    });
  }

  /** Returns the audit records that meet every given condition, the latest first. */
  find(limit: number, filter: AuditFilter = {}): Promise<AuditRecord[]> {
    const query = this.dataSource
      .createQueryBuilder(AuditRecord, 'record')
      .orderBy('record.at', 'DESC')
      .addOrderBy('record.id', 'DESC')
      .limit(limit);
    for (const [name, condition] of Object.entries(CONDITIONS)) {
      const value = filter[name as keyof AuditFilter];
      if (value !== undefined) query.andWhere(condition, { [name]: value });
    }
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
