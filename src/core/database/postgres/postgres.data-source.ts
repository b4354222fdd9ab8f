import pg, { type Client, type Pool } from 'pg';
import type { QueryResult, QueryRunner } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { isReadTimeout } from '../database-error.js';
import { ScopedDataSource } from '../transactions.js';
import { UnitOfWork } from '../unit-of-work.js';
import { PatientPool } from './postgres.pool.js';

/** TypeORM on PostgreSQL, on a pool that the `Database` port shares. */
export class PostgresDataSource extends ScopedDataSource {
  constructor(options: PostgresDataSourceOptions) {
    super({ ...options, driver: { ...pg, Pool: PatientPool } });
  }

  /** Available once the data source is initialised. */
  get pool(): Pool {
    return (this.driver as PostgresDriver).master as Pool;
  }

  protected newQueryRunner(): QueryRunner {
    return new SharablePostgresQueryRunner(this.driver as PostgresDriver, 'master');
  }
}

class SharablePostgresQueryRunner extends PostgresQueryRunner {
  override query(...query: Parameters<PostgresQueryRunner['query']>): Promise<QueryResult> {
    return super.query(...query).catch(async (error: unknown) => {
      // The statement may still be running: TypeORM closes the connection, as a broken one.
      if (isReadTimeout(error)) ((await this.connect()) as Client).emit('error', error);
      throw error;
    });
  }

  override async release(): Promise<void> {
    if (UnitOfWork.of(this).joins !== 'everything') await super.release();
  }
}
