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
import { TransactionScope, type Work } from '../transaction-scope.js';
import { createFile, SqliteFile } from './sqlite.file.js';
import { SqliteQueryRunner } from './sqlite.query-runner.js';

/** TypeORM on SQLite, with transactions that do not share a connection. */
export class SqliteDataSource extends DataSource {
  readonly file: SqliteFile;
  readonly transactions = new TransactionScope();

  constructor(options: BetterSqlite3DataSourceOptions) {
    super(options);
    this.file = new SqliteFile(options.database);
  }

  override async initialize(): Promise<this> {
    createFile(this.file.path);
    await super.initialize();
    this.file.opened();
    return this;
  }

  override createQueryRunner(): QueryRunner {
    const shared = this.transactions.sharedRunner;
    if (shared !== undefined) return shared;
    const driver = this.driver as BetterSqlite3Driver;
    const runner = new SqliteQueryRunner(driver, this.file, this.transactions);
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new ScopedManager(this, runner);
  }

  /** TypeORM refuses row locks on SQLite. A transaction is the only writer there, so that it needs none. */
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

type Isolation = Parameters<EntityManager['transaction']>[0];

/** Refuses a transaction that is started within another one, for which it would wait forever. */
class ScopedManager extends EntityManager {
  override transaction<Result>(
    first: Isolation | Work<Result>,
    second?: Work<Result>,
  ): Promise<Result> {
    const { transactions } = this.dataSource as SqliteDataSource;
    const [isolation, work] = typeof first === 'string' ? [first, second!] : [undefined, first];
    return super.transaction(isolation!, (manager) => transactions.run(manager, work));
  }
}
