import type { Pool, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { Engine } from './engine.js';
import { jsonWriter } from './json-members.js';
import { isOutage } from './outage.js';
import { PostgresReader } from './postgres.reader.js';
import { type Dialect, type Parameter, run, Statement, type Work } from './statement.js';

export const POSTGRES: Dialect = {
  json: (members) => members.map(({ column }) => column).join(),
  nowMs: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
};

const TRY_LOCK = new Statement<{ held: boolean }>(
  'engine.try-lock',
  () => 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS held',
);

type ToValue = (row: unknown) => unknown;

interface Prepared {
  query: { name: string; text: string; rowMode?: 'array' };
  /** What is to be made of a row; undefined where that is what the statement gives. */
  toValue: ToValue | undefined;
}

const guarded = new WeakSet<PoolClient>();

/**
 * An error of a connection reaches whoever waits for an answer on it. One that comes when nobody does, as
 * after a query that was given up, would end the process.
 */
function outliveErrors(client: PoolClient): void {
  if (guarded.has(client)) return;
  guarded.add(client);
  client.on('error', () => undefined);
}

/** PostgreSQL, on the connection pool of TypeORM, with named prepared statements. */
export class PostgresEngine extends Engine {
  private readonly prepared = new Map<Statement, Prepared>();
  private readonly reader = new PostgresReader(() => this.pool);

  constructor(private readonly dataSource: DataSource) {
    super();
    this.pool.on('acquire', outliveErrors);
  }

  query<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Promise<Row[]> {
    const { query, toValue } = this.prepare(statement);
    return this.reader.read({ ...query, values: parameters }, toValue) as Promise<Row[]>;
  }

  async first<Row>(
    statement: Statement<Row>,
    ...parameters: Parameter[]
  ): Promise<Row | undefined> {
    const [row] = await this.query(statement, ...parameters);
    return row;
  }

  async write<Result>(work: () => Work<Result>): Promise<Result> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      // In one packet with the first statement: nobody has to wait for this answer by itself.
      const begun = client.query('BEGIN');
      // Whoever drives the work waits for it, unless the work ends before its first statement.
      begun.catch(() => undefined);
      const result = await this.drive(client, begun, work());
      await client.query('COMMIT');
      return result;
    } catch (error) {
      // To roll back on a connection that does not answer would be to wait for it once more.
      if (isOutage(error)) broken = error as Error;
      else await client.query('ROLLBACK').catch((cause: Error) => (broken = cause));
      throw error;
    } finally {
      // Closing a broken connection ends its transaction, and keeps the next one from it.
      client.release(broken);
    }
  }

  *tryLock(name: string): Work<boolean> {
    const [row] = yield* run(TRY_LOCK, name);
    return row!.held;
  }

  async ping(): Promise<void> {
    await this.pool.query('SELECT 1');
  }

  private async drive<Result>(
    client: PoolClient,
    begun: Promise<unknown>,
    work: Work<Result>,
  ): Promise<Result> {
    let step = work.next();
    while (!step.done) {
      const { statement, parameters } = step.value;
      const { query, toValue } = this.prepare(statement);
      const run = client.query({ ...query, values: parameters as Parameter[] });
      const [{ rows }] = await Promise.all([run, begun]);
      step = work.next(toValue === undefined ? rows : rows.map(toValue));
    }
    return step.value;
  }

  private prepare(statement: Statement): Prepared {
    let prepared = this.prepared.get(statement);
    if (prepared === undefined) {
      const { name, json } = statement;
      const query = { name, text: statement.text(POSTGRES) };
      prepared =
        json === undefined
          ? { query, toValue: undefined }
          : { query: { ...query, rowMode: 'array' }, toValue: jsonWriter(json) as ToValue };
      this.prepared.set(statement, prepared);
    }
    return prepared;
  }

  private get pool(): Pool {
    return (this.dataSource.driver as unknown as { master: Pool }).master;
  }
}
