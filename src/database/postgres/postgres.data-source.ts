import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import * as pg from 'pg';
import { DataSource, type QueryRunner, type ReplicationMode } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { AfterCommitSubscriber } from '../after-commit.js';
import { OutageError } from '../outage.js';
import { TransactionScope } from '../transaction-scope.js';

const TOO_MANY_CONNECTIONS = '53300';
const RETRY_MS = 100;
/** How long a request waits for a connection that the server refuses to make. */
const PATIENCE_MS = 3_000;
/** When to try for as many connections as are configured again. */
const SHRUNK_MS = 30_000;

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (release?: unknown) => void,
) => void;

/** TypeORM on PostgreSQL, on a pool that the `Database` port shares. */
export class PostgresDataSource extends DataSource {
  readonly transactions = new TransactionScope();

  constructor(options: PostgresDataSourceOptions) {
    super({ ...options, driver: { ...pg, Pool: PatientPool } });
  }

  /** Available once the data source is initialised. */
  get pool(): pg.Pool {
    return (this.driver as PostgresDriver).master as pg.Pool;
  }

  override async initialize(): Promise<this> {
    await super.initialize();
    this.subscribers.push(new AfterCommitSubscriber());
    // An error reaches the query that waits for its answer. Without a listener, one that comes later ends the process.
    this.pool.on('acquire', (client) => {
      if (client.listenerCount('error') === 0) client.on('error', () => undefined);
    });
    return this;
  }

  override createQueryRunner(mode: ReplicationMode = 'master'): QueryRunner {
    return this.transactions.sharedRunner ?? super.createQueryRunner(mode);
  }
}

/**
 * A pool that waits for one of its connections if the server refuses to make another one. Its role, or the whole server,
 * may allow fewer connections than are configured here.
 */
class PatientPool extends pg.Pool {
  private readonly logger = new Logger('PostgreSQL');
  private isShrunk = false;

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | void {
    const client = this.connectPatiently();
    if (callback === undefined) return client;
    client.then(
      (client) => callback(undefined, client, (error) => client.release(error as Error)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
  }

  private async connectPatiently(): Promise<pg.PoolClient> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await super.connect();
      } catch (error) {
        const isRefused = (error as { code?: unknown }).code === TOO_MANY_CONNECTIONS;
        if (!isRefused || performance.now() >= deadline) throw new OutageError(error);
      }
      this.shrink();
      if (this.totalCount === 0) await pause(RETRY_MS);
    }
  }

  private shrink(): void {
    const { options, totalCount } = this;
    const { max } = options;
    if (totalCount >= max) return;
    options.max = Math.max(1, totalCount);
    if (this.isShrunk) return;
    this.isShrunk = true;
    this.logger.warn('PostgreSQL refuses further connections: requests wait for one of the pool');
    const grow = (): void => {
      options.max = max;
      this.isShrunk = false;
    };
    setTimeout(grow, SHRUNK_MS).unref();
  }
}
