import * as pg from 'pg';
import { DataSource, type EntityManager, type QueryRunner, type ReplicationMode } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { TransactionalManager } from '../transactional.manager.js';
import { runnerToJoin } from '../transactions.js';
import { PostgresQueryRunner } from './postgres.query-runner.js';

/** TypeORM on PostgreSQL, with transactions that are bounded in time, on a pool that the engine shares. */
export class PostgresDataSource extends DataSource {
  private readonly made: { pool?: pg.Pool };

  constructor(options: PostgresDataSourceOptions) {
    const made: { pool?: pg.Pool } = {};
    class KnownPool extends pg.Pool {
      constructor(config: pg.PoolConfig) {
        super(config);
        made.pool = this;
      }
    }
    super({ ...options, driver: { ...pg, Pool: KnownPool } });
    this.made = made;
  }

  /** There once the data source is initialised. */
  get pool(): pg.Pool {
    return this.made.pool!;
  }

  override createQueryRunner(mode: ReplicationMode = 'master'): QueryRunner {
    const toJoin = runnerToJoin();
    if (toJoin?.dataSource === this) return toJoin;
    const runner = new PostgresQueryRunner(this.driver as PostgresDriver, mode);
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new TransactionalManager(this, runner);
  }
}
