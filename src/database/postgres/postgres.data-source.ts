import * as pg from 'pg';
import { DataSource, type EntityManager, type QueryRunner, type ReplicationMode } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { TransactionalManager } from '../transactional.manager.js';
import { noteOfConnection } from '../outage.js';
import { runnerToJoin } from '../transactions.js';
import { PostgresQueryRunner } from './postgres.query-runner.js';

/** How long TypeORM waits for others to give a connection back; to make one may take as long as the options say. */
const PATIENCE_MS = 10_000;
/** What the pool says where none came free in the time that it gives a connection to be made. */
const NONE_FREE = 'timeout exceeded when trying to connect';

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (release?: unknown) => void,
) => void;

function tell(error: unknown): never {
  noteOfConnection(error);
  throw error;
}

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

      override connect(): Promise<pg.PoolClient>;
      override connect(callback: Connected): void;
      override connect(callback?: Connected): Promise<pg.PoolClient> | void {
        if (callback === undefined) return super.connect().catch(tell);
        this.connectPatiently(callback, performance.now() + PATIENCE_MS);
      }

      private connectPatiently(callback: Connected, untilMs: number): void {
        super.connect((error, client, release) => {
          if (error?.message === NONE_FREE && performance.now() < untilMs) {
            this.connectPatiently(callback, untilMs);
            return;
          }
          noteOfConnection(error);
          callback(error, client, release);
        });
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
    const toJoin = runnerToJoin(this);
    if (toJoin !== undefined) return toJoin;
    const runner = new PostgresQueryRunner(this.driver as PostgresDriver, mode);
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new TransactionalManager(this, runner);
  }
}
