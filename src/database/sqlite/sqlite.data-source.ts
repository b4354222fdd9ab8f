import type { Database } from 'better-sqlite3';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { ScopedManager, type ScopedDataSource, TransactionScope } from '../transactions.js';
import { createFile, identityOf, protectFile } from './sqlite.file.js';
import { SqliteQueryRunner } from './sqlite.query-runner.js';
import { SqliteWriter } from './sqlite.writer.js';

/** TypeORM on SQLite, with one writer at a time. */
export class SqliteDataSource extends DataSource implements ScopedDataSource {
  readonly path: string;
  readonly transactions = new TransactionScope();
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
   * @throws an outage
   */
  assertInPlace(): void {
    if (identityOf(this.path) === this.identity) return;
    const message =
      `${this.path} was moved, deleted or replaced: restore it, ` +
      'or restart to use the file that is now at that path';
    throw Object.assign(new Error(message), { code: 'SQLITE_READONLY_DBMOVED' });
  }

  override createQueryRunner(): QueryRunner {
    const { shared } = this.transactions;
    if (shared !== undefined) return shared;
    const runner = new SqliteQueryRunner(this.driver as BetterSqlite3Driver);
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new ScopedManager(this, runner);
  }
}
