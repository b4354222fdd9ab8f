import type { Pool, PoolClient, QueryConfig } from 'pg';
import type { DataSource } from 'typeorm';
import { Engine } from './engine.js';
import { isOutage } from './outage.js';
import { PostgresReader } from './postgres.reader.js';
import { type Dialect, type Parameter, run, Statement, type Work } from './statement.js';

export const POSTGRES: Dialect = {
  jsonString: (expression) => `to_json(${expression})`,
  nowMs: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
};

const TRY_LOCK = new Statement<{ held: boolean }>(
  'engine.try-lock',
  () => 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS held',
);

const AS_ARRAYS = { rowMode: 'array' };

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
  private readonly reader = new PostgresReader(() => this.pool);

  constructor(private readonly dataSource: DataSource) {
    super();
    this.pool.on('acquire', outliveErrors);
  }

  async query<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Promise<Row[]> {
    const rows = await this.reader.read(this.toQuery(statement, parameters));
    return toValues(statement, rows) as Row[];
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
      const { rows } = await client.query(this.toQuery(statement, parameters));
      step = work.next(toValues(statement, rows));
    }
    return step.value;
  }

  private toQuery(statement: Statement, parameters: readonly Parameter[]): QueryConfig {
    let text = this.texts.get(statement);
    if (text === undefined) this.texts.set(statement, (text = textOf(statement)));
    const query = { name: statement.name, text, values: parameters as Parameter[] };
    return statement.column === undefined ? query : Object.assign(query, AS_ARRAYS);
  }

  private get pool(): Pool {
    return (this.dataSource.driver as unknown as { master: Pool }).master;
  }
}

/** JSON texts come as one, one a line: a row of its own for each costs more than its text. */
function textOf({ text, column }: Statement): string {
  const own = text(POSTGRES);
  return column === 'json' ? `SELECT string_agg(line, E'\\n') FROM (${own}) AS lines(line)` : own;
}

function toValues({ column }: Statement, rows: unknown[]): unknown[] {
  if (column === undefined) return rows;
  const values = (rows as [unknown][]).map(([value]) => value);
  if (column !== 'json') return values;
  const [lines] = values as [string | null];
  return lines === null ? [] : lines.split('\n');
}
