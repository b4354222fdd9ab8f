import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { DataSource, QueryFailedError, type QueryRunner, type ReplicationMode } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { TransactionScope } from '../transactions.js';

const TOO_MANY_CONNECTIONS = '53300';
const RETRY_MS = 100;
/** How long a request waits for a connection that the server refuses to make. */
const PATIENCE_MS = 3_000;
/** When to try for as many connections as are configured again. */
const SHRUNK_MS = 30_000;

/** TypeORM on PostgreSQL, on a pool that the `Database` port shares. */
export class PostgresDataSource extends DataSource {
  readonly transactions = new TransactionScope();
  private isShrunk = false;

  constructor(options: PostgresDataSourceOptions) {
    super(options);
    // For the query runners of TypeORM.
    (this.driver as PostgresDriver).obtainMasterConnection = async () => {
      const client = await this.connectPatiently();
      return [client, (error?: Error) => client.release(error)];
    };
  }

  /** Available once the data source is initialised. */
  get pool(): Pool {
    return (this.driver as PostgresDriver).master as Pool;
  }

  override createQueryRunner(mode: ReplicationMode = 'master'): QueryRunner {
    return this.transactions.sharedRunner ?? super.createQueryRunner(mode);
  }

  /**
   * Takes a connection from the pool. If PostgreSQL refuses another one, waits for one of those
   * that it has: the role, or the whole server, may allow fewer connections than are configured.
   * @throws {QueryFailedError}
   */
  async connectPatiently(): Promise<PoolClient> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await this.pool.connect();
      } catch (error) {
        const isRefused = (error as { code?: unknown }).code === TOO_MANY_CONNECTIONS;
        if (!isRefused || performance.now() >= deadline) {
          throw new QueryFailedError('', [], error as Error);
        }
      }
      this.shrinkPool();
      if (this.pool.totalCount === 0) await pause(RETRY_MS);
    }
  }

  private shrinkPool(): void {
    const { options, totalCount } = this.pool;
    const { max } = options;
    options.max = Math.max(1, totalCount);
    if (this.isShrunk) return;
    this.isShrunk = true;
    new Logger('PostgreSQL').warn('PostgreSQL refuses further connections: requests wait for one');
    setTimeout(() => {
      options.max = max;
      this.isShrunk = false;
    }, SHRUNK_MS).unref();
  }
}
