import type { Pool, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { Engine } from './engine.js';
import { isOutage } from './outage.js';
import { type Dialect, type Parameter, run, Statement, type Work } from './statement.js';

export const POSTGRES: Dialect = {
  jsonString: (expression) => `to_json(${expression})`,
  nowMs: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
};

const TRY_LOCK = new Statement<{ held: boolean }>(
  'engine.try-lock',
  () => 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS held',
);

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
  private readonly texts = new Map<Statement, string>();

  constructor(private readonly dataSource: DataSource) {
    super();
    this.pool.on('acquire', outliveErrors);
  }

  async query<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Promise<Row[]> {
    return (await this.execute(this.pool, statement, parameters)) as Row[];
  }

  async first<Row>(
    statement: Statement<Row>,
    ...parameters: Parameter[]
  ): Promise<Row | undefined> {
    const [row] = await this.execute(this.pool, statement, parameters);
    return row as Row | undefined;
  }

  async write<Result>(work: () => Work<Result>): Promise<Result> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      const result = await this.drive(client, work());
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

  private async drive<Result>(client: PoolClient, work: Work<Result>): Promise<Result> {
    let step = work.next();
    while (!step.done) {
      const { statement, parameters } = step.value;
      step = work.next(await this.execute(client, statement, parameters));
    }
    return step.value;
  }

  private async execute(
    connection: Pool | PoolClient,
    statement: Statement,
    parameters: readonly Parameter[],
  ): Promise<unknown[]> {
    let text = this.texts.get(statement);
    if (text === undefined) this.texts.set(statement, (text = statement.text(POSTGRES)));
    const query = { name: statement.name, text, values: [...parameters] };
    if (!statement.isColumn) return (await connection.query(query)).rows as unknown[];
    const { rows } = await connection.query<[unknown]>({ ...query, rowMode: 'array' });
    return rows.map(([value]) => value);
  }

  private get pool(): Pool {
    return (this.dataSource.driver as unknown as { master: Pool }).master;
  }
}
