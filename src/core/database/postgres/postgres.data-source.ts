import pg, { type Client, type Pool } from 'pg';
import type { QueryResult, QueryRunner } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { isReadTimeout } from '../database-error.js';
import { ScopedDataSource } from '../transactions.js';
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

type Query = Parameters<PostgresQueryRunner['query']>;

class SharablePostgresQueryRunner extends PostgresQueryRunner {
  declare dataSource: PostgresDataSource;
  /** Settles when the statement that was sent last has ended. */
  private statement: Promise<unknown> | undefined;

  override query(...query: Query): Promise<QueryResult> {
    const result = this.run(query);
    this.statement = result.catch(() => undefined);
    return result;
  }

  private async run(query: Query): Promise<QueryResult> {
    this.dataSource.assertMayUse(this);
    try {
      return (await super.query(...query)) as QueryResult;
    } catch (error) {
      // The statement may still be running.
      if (isReadTimeout(error)) await this.closeConnection(error);
      throw error;
    }
  }

  override async commitTransaction(): Promise<void> {
    this.dataSource.assertMayEnd(this);
    await super.commitTransaction();
  }

  override async rollbackTransaction(): Promise<void> {
    this.dataSource.assertMayEnd(this);
    await super.rollbackTransaction();
  }

  override async release(): Promise<void> {
    if (this.dataSource.isWithin(this)) return;
    // One that nobody has awaited may begin a transaction.
    let latest: Promise<unknown> | undefined;
    while (latest !== this.statement) {
      latest = this.statement;
      await latest;
    }
    const client = this.databaseConnection as Client | undefined;
    if ((client?.getTransactionStatus() ?? 'I') !== 'I' && !this.isReleased) {
      // The statements of others would join it.
      await this.closeConnection(new Error('A transaction was not ended'));
    }
    await super.release();
  }

  /** Makes TypeORM discard the connection, as after a network error. */
  private async closeConnection(cause: unknown): Promise<void> {
    ((await this.connect()) as Client).emit('error', cause);
  }
}
