import { Logger } from '@nestjs/common';
import type { Database } from 'better-sqlite3';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import type { TransactionScope } from '../transaction-scope.js';
import { ExactDatabase } from './sqlite.connection.js';
import type { SqliteFile } from './sqlite.file.js';

/** A transaction holds up all other writers. */
const MAX_OPEN_MS = 3_000;
const TIMED_OUT =
  `A transaction was open for more than ${MAX_OPEN_MS} ms and has been rolled back, because it blocked all other ` +
  'writers. Do not await slow work within a transaction, and release every query runner.';

type Query = BetterSqlite3QueryRunner['query'];

/**
 * TypeORM on SQLite, with one writer at a time. A transaction has its own connection, which a statement that comes late
 * finds closed; statements outside of one share the connection of TypeORM, where each is a transaction by itself.
 */
export class SqliteQueryRunner extends BetterSqlite3QueryRunner {
  private transaction: ExactDatabase | undefined;
  private isWriter = false;
  private isTimedOut = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    driver: BetterSqlite3Driver,
    private readonly file: SqliteFile,
    private readonly transactions: TransactionScope,
  ) {
    super(driver);
  }

  override connect(): ReturnType<BetterSqlite3QueryRunner['connect']> {
    return this.transaction === undefined ? super.connect() : Promise.resolve(this.transaction);
  }

  override async query(...statement: Parameters<Query>): ReturnType<Query> {
    const [text] = statement;
    if (text === 'BEGIN TRANSACTION') return this.begin();
    if (text === 'ROLLBACK') return this.end();
    if (this.isTimedOut) throw new Error(TIMED_OUT);
    if (this.transaction === undefined) return this.queryAlone(statement);
    if (text !== 'COMMIT') return super.query(...statement);
    this.transaction.exec(text);
    this.end();
  }

  override release(): Promise<void> {
    this.end();
    this.isReleased = true;
    return super.release();
  }

  private async begin(): Promise<void> {
    this.transactions.assertOutside();
    await this.file.acquire();
    this.isWriter = true;
    try {
      await this.file.whenUnlocked(() => {
        this.transaction ??= new ExactDatabase(this.file.path);
        this.transaction.exec('BEGIN IMMEDIATE');
      });
    } catch (error) {
      this.end();
      throw error;
    }
    this.timer = setTimeout(() => {
      this.isTimedOut = true;
      new Logger('SQLite').warn(TIMED_OUT);
      this.end();
    }, MAX_OPEN_MS);
  }

  /** Rolls back what is not committed. */
  private end(): void {
    clearTimeout(this.timer);
    this.transaction?.close();
    this.transaction = undefined;
    if (this.isWriter) this.file.release();
    this.isWriter = false;
  }

  private async queryAlone(statement: Parameters<Query>): ReturnType<Query> {
    const database = (await super.connect()) as Database;
    const work = (): ReturnType<Query> => super.query(...statement);
    if (database.prepare(statement[0]).readonly) return work();
    this.transactions.assertOutside();
    return this.file.run(work);
  }
}
