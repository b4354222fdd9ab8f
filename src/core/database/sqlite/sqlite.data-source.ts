import { Logger } from '@nestjs/common';
import type { Database } from 'better-sqlite3';
import { QueryResult, type QueryRunner, QueryRunnerAlreadyReleasedError } from 'typeorm';
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import { databaseError } from '../database-error.js';
import { ScopedDataSource } from '../transactions.js';
import { assertStorable } from './sqlite.connection.js';
import { createFile, identityOf, protectFile } from './sqlite.file.js';
import { SqliteWriter } from './sqlite.writer.js';

/** A transaction holds up all other writers. */
const MAX_OPEN_MS = 3_000;
const TIMED_OUT =
  `A transaction was open for more than ${MAX_OPEN_MS} ms and has been rolled back, because it ` +
  'blocked all other writers. Do not await slow work within a transaction, and release every ' +
  'query runner.';

/** A statement that begins a transaction, perhaps behind comments. */
const BEGINS = /^(?:\s|--.*\n|\/\*[^]*?\*\/)*(?:BEGIN|SAVEPOINT)\b/i;

type Query = BetterSqlite3QueryRunner['query'];

/**
 * TypeORM on SQLite, with one writer at a time. There are three connections: the writer's, for
 * transactions and the writes of `SqliteDatabase`; TypeORM's, for statements outside transactions;
 * and the reader's, for `SqliteDatabase`.
 */
export class SqliteDataSource extends ScopedDataSource {
  readonly path: string;
  readonly writer: SqliteWriter;
  private identity: string | undefined;

  constructor(options: BetterSqlite3DataSourceOptions) {
    super(options);
    this.path = options.database;
    this.writer = new SqliteWriter(this.path, () => this.assertInPlace());
  }

  override async initialize(): Promise<this> {
    createFile(this.path);
    await super.initialize();
    protectFile(this.path);
    this.identity = identityOf(this.path);
    this.sharedConnection.defaultSafeIntegers();
    return this;
  }

  override async destroy(): Promise<void> {
    this.writer.close();
    await super.destroy();
  }

  /** The connection for statements outside of transactions. */
  get sharedConnection(): Database {
    return (this.driver as BetterSqlite3Driver).databaseConnection as Database;
  }

  /**
   * If the file is moved or deleted while it is open, SQLite keeps writing to the open file, and
   * the next process does not find those writes at the path. SQLite itself notices that only
   * without a WAL.
   * @throws an error that is a 503
   */
  assertInPlace(): void {
    if (identityOf(this.path) === this.identity) return;
    throw databaseError(
      'SQLITE_READONLY_DBMOVED',
      `${this.path} was moved, deleted or replaced: restore it, ` +
        'or restart to use the file that is now at that path',
    );
  }

  protected newQueryRunner(): QueryRunner {
    return new SqliteQueryRunner(this.driver as BetterSqlite3Driver);
  }
}

/**
 * Runs transactions on the writer's connection, one at a time. A statement outside a transaction
 * runs on TypeORM's own connection; if it writes, it is its own transaction.
 */
export class SqliteQueryRunner extends BetterSqlite3QueryRunner {
  declare dataSource: SqliteDataSource;
  /** Runs while the transaction is open. */
  private timer: NodeJS.Timeout | undefined;
  private isTimedOut = false;

  override connect(): ReturnType<BetterSqlite3QueryRunner['connect']> {
    this.assertNotTimedOut();
    const { sharedConnection, writer } = this.dataSource;
    return Promise.resolve(this.timer === undefined ? sharedConnection : writer.connection);
  }

  override async startTransaction(): Promise<void> {
    // A savepoint.
    if (this.isTransactionActive) return super.startTransaction();
    await this.broadcaster.broadcast('BeforeTransactionStart');
    this.dataSource.assertOutside();
    await this.dataSource.writer.begin();
    if (this.isReleased) {
      this.dataSource.writer.rollback();
      throw new QueryRunnerAlreadyReleasedError();
    }
    this.timer = setTimeout(() => this.timeOut(), MAX_OPEN_MS);
    this.isTransactionActive = true;
    this.transactionDepth = 1;
    await this.broadcaster.broadcast('AfterTransactionStart');
  }

  override async commitTransaction(): Promise<void> {
    this.dataSource.assertMayEnd(this);
    if (this.transactionDepth !== 1) return super.commitTransaction();
    await this.broadcaster.broadcast('BeforeTransactionCommit');
    this.assertNotTimedOut();
    try {
      if (this.endsNow()) await this.dataSource.writer.commit();
    } catch (error) {
      this.awaitRollback();
      throw error;
    }
    await this.broadcaster.broadcast('AfterTransactionCommit');
  }

  override async rollbackTransaction(): Promise<void> {
    this.dataSource.assertMayEnd(this);
    if (this.transactionDepth !== 1) return super.rollbackTransaction();
    await this.broadcaster.broadcast('BeforeTransactionRollback');
    this.undo();
    await this.broadcaster.broadcast('AfterTransactionRollback');
  }

  override async query(...statement: Parameters<Query>): ReturnType<Query> {
    this.assertNotTimedOut();
    this.dataSource.assertMayUse(this);
    assertStorable(statement[0], statement[1]);
    const { sharedConnection, writer } = this.dataSource;
    const isAlone = this.timer === undefined && !sharedConnection.prepare(statement[0]).readonly;
    // The writes of others would join it.
    if (this.timer === undefined && BEGINS.test(statement[0])) {
      throw new Error(`Use dataSource.transaction() instead of ${statement[0]}`);
    }
    if (!isAlone) return narrow(await super.query(...statement));
    this.dataSource.assertOutside();
    return narrow(await writer.runAlone(() => super.query(...statement)));
  }

  override async release(): Promise<void> {
    if (this.dataSource.isWithin(this)) return;
    this.undo();
    this.isReleased = true;
    await super.release();
  }

  /** @throws {Error} if the transaction was open for too long */
  assertNotTimedOut(): void {
    // An outage: the disk or the machine may be slow.
    if (this.isTimedOut) throw databaseError('SQLITE_BUSY_TIMEOUT', TIMED_OUT);
  }

  protected override async loadPragmaRecords(table: string, pragma: string): Promise<unknown> {
    return narrow(await super.loadPragmaRecords(table, pragma));
  }

  private timeOut(): void {
    this.undo();
    this.isTimedOut = true;
    this.awaitRollback();
    new Logger('SQLite').warn(TIMED_OUT);
  }

  /** The transaction is undone already: its owner has not ended it, and its statements fail. */
  private awaitRollback(): void {
    this.isTransactionActive = true;
    this.transactionDepth = 1;
  }

  private undo(): void {
    if (this.endsNow()) this.dataSource.writer.rollback();
  }

  /** @returns whether a transaction was open */
  private endsNow(): boolean {
    this.isTransactionActive = false;
    this.transactionDepth = 0;
    const isOpen = this.timer !== undefined;
    clearTimeout(this.timer);
    this.timer = undefined;
    return isOpen;
  }
}

/**
 * SQLite's integers arrive as bigints. Larger than 2^53 - 1: kept as bigint, because a Number would
 * round them; the others become Numbers, which TypeORM expects of its own tables.
 */
function narrow(result: unknown): unknown {
  if (typeof result === 'bigint') {
    return Number.isSafeInteger(Number(result)) ? Number(result) : result;
  }
  if (result instanceof QueryResult) result.raw = narrow(result.raw);
  if (!Array.isArray(result)) return result;
  for (const row of result as Record<string, unknown>[]) {
    for (const column in row) row[column] = narrow(row[column]);
  }
  return result;
}
