import { DataSource, type Driver, type EntityManager, type QueryRunner } from 'typeorm';
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { TransactionalManager } from '../transactional.manager.js';
import { runnerToJoin } from '../transactions.js';
import { SqliteFile } from './sqlite.file.js';
import { SqliteQueryRunner } from './sqlite.query-runner.js';
import { SqliteWrites } from './sqlite.writes.js';

/** TypeORM on SQLite, with transactions that do not share a connection. */
export class SqliteDataSource extends DataSource {
  readonly file: SqliteFile;
  readonly writes: SqliteWrites;

  constructor(options: BetterSqlite3DataSourceOptions) {
    super(options);
    this.file = new SqliteFile(options.database);
    this.writes = new SqliteWrites(this.file);
    generateExactIds(this.driver);
  }

  override async initialize(): Promise<this> {
    this.file.assertDatabase();
    this.file.keepToOwner();
    await super.initialize();
    this.file.opened();
    return this;
  }

  override async destroy(): Promise<void> {
    await super.destroy();
    this.writes.close();
  }

  override createQueryRunner(): QueryRunner {
    const toJoin = runnerToJoin(this);
    if (toJoin !== undefined) return toJoin;
    const runner = new SqliteQueryRunner(this.driver as BetterSqlite3Driver, this.writes);
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new TransactionalManager(this, runner);
  }
}

/** SQLite generates ids of the type INTEGER alone; TypeORM takes every one for a Number. */
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
