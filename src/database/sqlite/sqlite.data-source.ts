import {
  DataSource,
  type Driver,
  EntityManager,
  type EntityTarget,
  type ObjectLiteral,
  type QueryRunner,
  type SelectQueryBuilder,
} from 'typeorm';
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { AfterCommitSubscriber } from '../after-commit.js';
import { TransactionScope } from '../transaction-scope.js';
import { SqliteFile } from './sqlite.file.js';
import { SqliteQueryRunner } from './sqlite.query-runner.js';
import { SqliteWriter } from './sqlite.writer.js';

/** TypeORM on SQLite, with transactions that do not share a connection. */
export class SqliteDataSource extends DataSource {
  readonly file: SqliteFile;
  readonly writer: SqliteWriter;
  readonly transactions = new TransactionScope();

  constructor(options: BetterSqlite3DataSourceOptions) {
    super(options);
    this.file = new SqliteFile(options.database);
    this.writer = new SqliteWriter(this.file);
    generateExactIds(this.driver);
  }

  override async initialize(): Promise<this> {
    this.file.assertDatabase();
    this.file.keepToOwner();
    await super.initialize();
    this.subscribers.push(new AfterCommitSubscriber());
    this.file.opened();
    return this;
  }

  override createQueryRunner(): QueryRunner {
    const shared = this.transactions.sharedRunner;
    if (shared !== undefined) return shared;
    const driver = this.driver as BetterSqlite3Driver;
    const runner = new SqliteQueryRunner(driver, this.writer, this.transactions);
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new ScopedManager(this, runner);
  }

  override createQueryBuilder<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    alias: string,
    runner?: QueryRunner,
  ): SelectQueryBuilder<Entity>;
  override createQueryBuilder(runner?: QueryRunner): SelectQueryBuilder<ObjectLiteral>;
  override createQueryBuilder(
    first?: EntityTarget<ObjectLiteral> | QueryRunner,
    alias?: string,
    runner?: QueryRunner,
  ): SelectQueryBuilder<ObjectLiteral> {
    return withoutRowLocks(
      alias === undefined
        ? (super.createQueryBuilder(first as QueryRunner) as SelectQueryBuilder<ObjectLiteral>)
        : super.createQueryBuilder(first as EntityTarget<ObjectLiteral>, alias, runner),
    );
  }
}

/** TypeORM refuses row locks on SQLite. A transaction is the only writer there, so that it needs none. */
function withoutRowLocks(
  builder: SelectQueryBuilder<ObjectLiteral>,
): SelectQueryBuilder<ObjectLiteral> {
  const setLock = builder.setLock.bind(builder) as (...lock: unknown[]) => typeof builder;
  builder.setLock = (...lock: unknown[]) => (lock[0] === 'optimistic' ? setLock(...lock) : builder);
  builder.setOnLocked = () => builder;
  return builder;
}

type Isolation = Parameters<EntityManager['transaction']>[0];
type Work<Result> = (manager: EntityManager) => Promise<Result>;

/** Refuses a transaction that is started within another one, for which it would wait forever. */
class ScopedManager extends EntityManager {
  override transaction<Result>(work: Work<Result>): Promise<Result>;
  override transaction<Result>(isolation: Isolation, work: Work<Result>): Promise<Result>;
  override transaction<Result>(
    first: Isolation | Work<Result>,
    second?: Work<Result>,
  ): Promise<Result> {
    const { transactions } = this.dataSource as SqliteDataSource;
    const scoped =
      (work: Work<Result>): Work<Result> =>
      (manager) =>
        transactions.sharedRunner === manager.queryRunner
          ? work(manager)
          : transactions.run(manager.queryRunner!, () => work(manager));
    return typeof first === 'function'
      ? super.transaction(scoped(first))
      : super.transaction(first, scoped(second!));
  }
}

/** SQLite generates ids of the type INTEGER alone; TypeORM takes every generated id for a Number. */
function generateExactIds(driver: Driver): void {
  const normalizeType = driver.normalizeType.bind(driver);
  driver.normalizeType = (column) =>
    'isGenerated' in column && column.isGenerated ? 'integer' : normalizeType(column);
  const createGeneratedMap = driver.createGeneratedMap.bind(driver);
  driver.createGeneratedMap = (metadata, last: unknown, index = 0, count = 1) => {
    if (typeof last !== 'bigint') return createGeneratedMap(metadata, last, index, count);
    const [column] = metadata.generatedColumns;
    const id = last - BigInt(count) + BigInt(index) + 1n;
    return column?.createValueMap(id);
  };
}
