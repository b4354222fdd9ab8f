import type { Database } from 'better-sqlite3';
import { type BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import { pendingOf } from '../after-commit.js';
import { assertNoControl } from '../transaction-control.js';
import {
  assertOutsideTransaction,
  enterTransaction,
  MAX_OPEN_MS,
  tellOfTimeOut,
  TransactionTimedOutError,
} from '../transactions.js';
import { type SqliteTransaction } from './sqlite.transaction.js';
import { type SqliteWrites, whenUnlocked } from './sqlite.writes.js';

type Query = BetterSqlite3QueryRunner['query'];

/**
 * What TypeORM does, in turn with the engine. A transaction has a connection to itself; statements outside
 * one share TypeORM's, on which each stands for itself.
 */
export class SqliteQueryRunner extends BetterSqlite3QueryRunner {
  private transaction: SqliteTransaction | undefined;
  /** Whoever shares it releases it: see `shared-transaction.ts`. */
  isShared = false;
  private timer: NodeJS.Timeout | undefined;
  private isMigrating = false;
  /** Whether its maker has awaited nothing since, and may share its context with others that it calls. */
  private isFresh = true;
  private leaveContext: (() => void) | undefined;

  constructor(
    driver: BetterSqlite3Driver,
    private readonly writes: SqliteWrites,
  ) {
    super(driver);
    queueMicrotask(() => (this.isFresh = false));
  }

  override connect(): ReturnType<BetterSqlite3QueryRunner['connect']> {
    return this.transaction === undefined ? super.connect() : Promise.resolve(this.transaction);
  }

  /** A migration takes its time, and may take tables apart that others refer to. */
  override beforeMigration(): Promise<void> {
    this.isMigrating = true;
    clearTimeout(this.timer);
    return Promise.resolve();
  }

  override afterMigration(): Promise<void> {
    this.isMigrating = false;
    return Promise.resolve();
  }

  override async startTransaction(
    ...[isolation]: Parameters<BetterSqlite3QueryRunner['startTransaction']>
  ): Promise<void> {
    if (!this.isTransactionActive) {
      assertOutsideTransaction();
      if (!this.isFresh && !this.isMigrating) this.leaveContext = enterTransaction(this);
    }
    try {
      await super.startTransaction(isolation);
      pendingOf(this).began();
    } catch (error) {
      if (this.transaction === undefined) {
        this.isTransactionActive = false;
        this.left();
      }
      throw error;
    }
  }

  override async commitTransaction(): Promise<void> {
    await super.commitTransaction();
    pendingOf(this).committed();
  }

  override async rollbackTransaction(): Promise<void> {
    pendingOf(this).rolledBack();
    if (this.transaction?.hasTimedOut) {
      // The one around it is over as well, and has yet to hear of it.
      if (this.transactionDepth > 1) this.transactionDepth--;
      else this.forget();
      return;
    }
    await super.rollbackTransaction();
  }

  override query(...statement: Parameters<Query>): ReturnType<Query> {
    const [text] = statement;
    switch (text) {
      case 'BEGIN TRANSACTION':
        return this.begin();
      case 'COMMIT':
        return this.conclude(() => this.transaction?.commit());
      case 'ROLLBACK':
        return this.conclude(() => this.transaction?.rollBack());
      default:
        return this.transaction === undefined
          ? this.queryAlone(statement)
          : super.query(...statement);
    }
  }

  override async release(): Promise<void> {
    if (this.isShared) return;
    if (this.transaction !== undefined) await this.conclude(() => this.transaction?.rollBack());
    await super.release();
    this.isReleased = true;
  }

  private async begin(): Promise<void> {
    this.transaction = await this.writes.begin({ foreignKeys: !this.isMigrating });
    if (this.isMigrating) return;
    this.timer = setTimeout(() => {
      this.transaction!.rollBack(new TransactionTimedOutError());
      this.writes.end(this.transaction!);
      this.left();
      tellOfTimeOut(this);
    }, MAX_OPEN_MS);
  }

  private async conclude(how: () => void): Promise<void> {
    const { transaction } = this;
    if (transaction === undefined) throw new Error('There is no transaction');
    how();
    clearTimeout(this.timer);
    this.transaction = undefined;
    this.writes.end(transaction);
    this.left();
    await Promise.resolve();
  }

  /** What comes after its transaction may begin another one. */
  private left(): void {
    this.leaveContext?.();
    this.leaveContext = undefined;
  }

  private forget(): void {
    this.transaction = undefined;
    this.isTransactionActive = false;
    this.transactionDepth = 0;
  }

  private async queryAlone(statement: Parameters<Query>): ReturnType<Query> {
    const [text] = statement;
    assertNoControl(text);
    const database = (await super.connect()) as Database;
    if (isRead(database, text)) return whenUnlocked(() => super.query(...statement));
    assertOutsideTransaction();
    return this.writes.alone(() => super.query(...statement));
  }
}

/** What cannot be prepared does not write either; whoever runs it says why. */
function isRead(database: Database, text: string): boolean {
  try {
    return database.prepare(text).readonly;
  } catch {
    return true;
  }
}
