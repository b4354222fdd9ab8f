import pg, { type Pool } from 'pg';
import { DataSource, type EntityManager, type QueryRunner, type ReplicationMode } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import {
  type JoinableQueryRunner,
  ScopedManager,
  type ScopedDataSource,
  TransactionScope,
} from '../transactions.js';
import { PatientPool } from './postgres.pool.js';

/** TypeORM on PostgreSQL, on a pool that the `Database` port shares. */
export class PostgresDataSource extends DataSource implements ScopedDataSource {
  readonly transactions = new TransactionScope();

  constructor(options: PostgresDataSourceOptions) {
    super({ ...options, driver: { ...pg, Pool: PatientPool } });
  }

  /** Available once the data source is initialised. */
  get pool(): Pool {
    return (this.driver as PostgresDriver).master as Pool;
  }

  override createQueryRunner(mode: ReplicationMode = 'master'): QueryRunner {
    const { shared } = this.transactions;
    if (shared !== undefined) return shared;
    const runner = new SharablePostgresQueryRunner(this.driver as PostgresDriver, mode);
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new ScopedManager(this, runner);
  }
}

class SharablePostgresQueryRunner extends PostgresQueryRunner implements JoinableQueryRunner {
  isShared?: boolean;

  override release(): Promise<void> {
    return this.isShared ? Promise.resolve() : super.release();
  }
}
