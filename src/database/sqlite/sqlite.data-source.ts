import { Logger } from '@nestjs/common';
import type { Database } from 'better-sqlite3';
import {
  DataSource,
  EntityManager,
  type EntityTarget,
  type ObjectLiteral,
  type QueryRunner,
  type SelectQueryBuilder,
} from 'typeorm';
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import { TransactionScope, type Work } from '../transactions.js';
import { ExactDatabase } from './sqlite.connection.js';
import { createFile, identityOf, protectFile } from './sqlite.file.js';
import { SqliteWriter } from './sqlite.writer.js';

/** A transaction holds up all other writers. */
const MAX_OPEN_MS = 3_000;
const TIMED_OUT =
  `A transaction was open for more than ${MAX_OPEN_MS} ms and has been rolled back, because it blocked all other ` +
  'writers. Do not await slow work within a transaction, and release every query runner.';

/** TypeORM on SQLite, with transactions that do not share a connection. */
export class SqliteDataSource extends DataSource {
  readonly path: string;
  readonly transactions = new TransactionScope();
  readonly writer = new SqliteWriter(() => this.assertInPlace());
  private identity: string | undefined;

  constructor(options: BetterSqlite3DataSourceOptions) {
    super(options);
    this.path = options.database;
    const driver = this.driver as BetterSqlite3Driver;
    driver.createQueryRunner = () => new SqliteQueryRunner(driver);
  }

  override async initialize(): Promise<this> {
    createFile(this.path);
    await super.initialize();
    protectFile(this.path);
    this.identity = identityOf(this.path);
    return this;
  }

  /**
   * If the file is moved or deleted while it is open, SQLite keeps writing to the open file, and
   * the next process does not find those writes at the path. SQLite itself notices that only
   * without a WAL.
   * @throws an outage
   */
  assertInPlace(): void {
    if (identityOf(this.path) === this.identity) return;
    const message = `${this.path} was moved, deleted or replaced: put it back, or restart to use what is there now`;
    throw Object.assign(new Error(message), { code: 'SQLITE_READONLY_DBMOVED' });
  }

  override createQueryRunner(): QueryRunner {
    return this.transactions.sharedRunner ?? super.createQueryRunner();
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new ScopedManager(this, runner);
  }

  /**
   * TypeORM refuses row locks on SQLite. A transaction is the only writer there, so that it needs
   * none.
   */
  override createQueryBuilder<Entity extends ObjectLiteral>(
    ...parameters: unknown[]
  ): SelectQueryBuilder<Entity> {
    const builder = super.createQueryBuilder(...(parameters as [EntityTarget<Entity>, string]));
    const setLock = builder.setLock.bind(builder) as (...lock: unknown[]) => typeof builder;
    builder.setLock = (...lock: unknown[]) =>
      lock[0] === 'optimistic' ? setLock(...lock) : builder;
    return builder;
  }
}

type Query = BetterSqlite3QueryRunner['query'];

/**
 * TypeORM on SQLite, with one writer at a time. A transaction has its own connection, which a
 * statement that comes late finds closed; statements outside of one share the connection of
 * TypeORM, where each is a transaction by itself.
 */
class SqliteQueryRunner extends BetterSqlite3QueryRunner {
  declare dataSource: SqliteDataSource;
  private transaction: ExactDatabase | undefined;
  private isTimedOut = false;
  private timer: NodeJS.Timeout | undefined;

  override connect(): ReturnType<BetterSqlite3QueryRunner['connect']> {
    return this.transaction === undefined ? super.connect() : Promise.resolve(this.transaction);
  }

  override async query(...statement: Parameters<Query>): ReturnType<Query> {
    const [text] = statement;
    if (text === 'BEGIN TRANSACTION') return this.begin();
    if (text === 'ROLLBACK') return this.end();
    if (this.isTimedOut) throw new Error(TIMED_OUT);
    if (this.transaction !== undefined) {
      if (text !== 'COMMIT') return super.query(...statement);
      this.transaction.exec(text);
      return this.end();
    }
    const database = (await super.connect()) as Database;
    if (database.prepare(text).readonly) return super.query(...statement);
    const { transactions, writer } = this.dataSource;
    transactions.assertOutside();
    return writer.run(() => super.query(...statement));
  }

  override release(): Promise<void> {
    this.end();
    this.isReleased = true;
    return super.release();
  }

  private async begin(): Promise<void> {
    const { path, transactions, writer } = this.dataSource;
    transactions.assertOutside();
    this.transaction = await writer.acquire(() => {
      const database = new ExactDatabase(path);
      try {
        return database.exec('BEGIN IMMEDIATE');
      } catch (error) {
        database.close();
        throw error;
      }
    });
    this.timer = setTimeout(() => {
      this.isTimedOut = true;
      new Logger('SQLite').warn(TIMED_OUT);
      this.end();
    }, MAX_OPEN_MS);
  }

  /** Rolls back what is not committed. */
  private end(): void {
    if (this.transaction === undefined) return;
    clearTimeout(this.timer);
    this.transaction.close();
    this.transaction = undefined;
    this.dataSource.writer.release();
  }
}

type Isolation = Parameters<EntityManager['transaction']>[0];

/** Refuses a transaction that is started within another one, for which it would wait forever. */
class ScopedManager extends EntityManager {
  override transaction<Result>(first: unknown, second = first as Work<Result>): Promise<Result> {
    const { transactions } = this.dataSource as SqliteDataSource;
    const isolation = (first === second ? undefined : first) as Isolation;
    return super.transaction(isolation, (manager) => transactions.run(manager, second));
  }
}
