import { setImmediate as nextTick } from 'node:timers/promises';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { QueryFailedError, type QueryRunner } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { Database, type Parameter, type Statement } from '../database.js';
import type { DatabaseMetrics } from '../database-metrics.js';
import {
  hasChangedNothing,
  isConnectionLost,
  isDataError,
  isHeld,
  isOutage,
} from '../database-error.js';
import type { PostgresDataSource } from './postgres.data-source.js';

/** Timeout of statements of the poller and of readiness, including the connection. */
const POLL_TIMEOUT_MS = 700;

const isRead = ({ postgres }: Statement): boolean => postgres.startsWith('SELECT');

/** A row of a batched statement: the result of one call. */
type BatchRow = Record<string, string | null>;

/** The calls of one tick with the same statement. */
interface Batch {
  calls: Parameter[][];
  /** A row per call. */
  rows: Promise<BatchRow[]>;
}

/**
 * PostgreSQL, on the pool of TypeORM, with named prepared statements.
 *
 * Calls of one tick with the same statement are one statement. On failure, calls are retried one
 * by one, unless the database is unreachable. A statement that is known to have changed nothing
 * (a stale plan, a deadlock, a read on a broken connection) is repeated once, unprepared.
 */
export class PostgresDatabase extends Database implements OnApplicationShutdown {
  private readonly batches = new Map<Statement, Batch>();
  /** The poller and readiness never wait for requests. */
  private readonly pollers: Pool;

  constructor(
    readonly dataSource: PostgresDataSource,
    private readonly metrics: DatabaseMetrics,
  ) {
    super();
    this.pollers = new Pool({
      connectionString: (dataSource.options as PostgresDataSourceOptions).url!,
      application_name: 'petstore poller',
      max: 2,
      keepAlive: true,
      connectionTimeoutMillis: POLL_TIMEOUT_MS,
      query_timeout: POLL_TIMEOUT_MS,
      statement_timeout: POLL_TIMEOUT_MS,
    });
    this.pollers.on('error', () => undefined);
  }

  query<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const answer = this.answer(statement, parameters) as Promise<Row[]>;
    return this.metrics.time(statement.name, answer);
  }

  write<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    return this.query(statement, ...parameters);
  }

  async poll<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const answer = this.pollers.query(statement.postgres, parameters);
    return (await this.metrics.time(statement.name, answer)).rows as Row[];
  }

  pool() {
    const { totalCount, idleCount, waitingCount } = this.dataSource.pool;
    return { in_use: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pollers.end();
  }

  private answer(statement: Statement, parameters: Parameter[]): Promise<unknown[]> {
    const { unitOfWork } = this.dataSource;
    if (unitOfWork !== undefined) return this.join(unitOfWork.runner, statement, parameters);
    return statement.isBatched
      ? this.enqueue(statement, parameters)
      : this.execute(statement, parameters);
  }

  /**
   * Runs a statement in a transaction, on its connection. It is not prepared: a stale plan would
   * fail, and with it the transaction.
   */
  private async join(
    transaction: QueryRunner,
    statement: Statement,
    parameters: Parameter[],
  ): Promise<unknown[]> {
    const { postgres: text, isBatched } = statement;
    const values = isBatched ? parameters.map((value) => [value]) : parameters;
    const { records } = await transaction.query(text, values, true);
    const rows = records as BatchRow[];
    return isBatched ? rowsOf(statement, rows[0]) : rows;
  }

  /** Adds a call to the batch of this tick. */
  private async enqueue(statement: Statement, parameters: Parameter[]): Promise<unknown[]> {
    const { calls, rows } = this.batches.get(statement) ?? this.startBatch(statement);
    const index = calls.push(parameters) - 1;
    try {
      return rowsOf(statement, (await rows)[index]);
    } catch (error) {
      const isUnreachable = isOutage(error) && !isHeld(error);
      if (calls.length === 1 || isUnreachable) throw error;
      // Here, not in the batch: the repetition belongs to the request of this call.
      const [row] = await this.executeAll(statement, [parameters]);
      return rowsOf(statement, row);
    }
  }

  private startBatch(statement: Statement): Batch {
    const calls: Parameter[][] = [];
    const rows = nextTick().then(() => {
      this.batches.delete(statement);
      return this.executeAll(statement, calls);
    });
    const batch = { calls, rows };
    this.batches.set(statement, batch);
    return batch;
  }

  private async executeAll(statement: Statement, calls: Parameter[][]): Promise<BatchRow[]> {
    const columns = calls[0]!.map((_, index) => calls.map((call) => call[index]));
    const rows = await this.execute<BatchRow>(statement, columns);
    if (!isRead(statement)) this.metrics.batchSizes.observe(calls.length);
    return rows;
  }

  private execute<Row>(statement: Statement, values: unknown[]): Promise<Row[]> {
    const query = { name: statement.name, text: statement.postgres, values };
    return this.run<Row>(query).catch((error: unknown) => {
      const isBroken = isRead(statement) && isConnectionLost(error);
      if (hasChangedNothing(error) || isBroken) return this.run({ ...query, name: undefined });
      throw error;
    });
  }

  private async run<Row>(query: object): Promise<Row[]> {
    const client = await this.dataSource.pool.connect();
    try {
      const { rows } = await client.query(query as { text: string });
      client.release();
      return rows as Row[];
    } catch (error) {
      // Closing the connection ends whatever is still running on it, and forgets its prepared
      // statements. It costs a new one, so bad input must not trigger it.
      client.release(!isDataError(error));
      throw new QueryFailedError('', [], error as Error);
    }
  }
}

function rowsOf({ isJson }: Statement, row: BatchRow | undefined): unknown[] {
  const [first = null] = Object.values(row ?? {});
  if (first === null) return [];
  return isJson ? first.split('\n') : [row];
}
