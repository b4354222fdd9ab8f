export type Parameter = string | number | bigint | null;

/**
 * One of the hot statements, prepared once per connection. `$1`, `$2`, ... stand for the
 * parameters, on SQLite each once, in this order, and under any name. An integer column is a bigint
 * on SQLite; PostgreSQL's driver returns an int64 as text.
 */
export interface Statement {
  /** Unique in the process: the name of the prepared statement and its label in the metrics. */
  readonly name: string;
  /** Several texts run in order, in one transaction; the rows are those of the first text. */
  readonly sqlite: string | readonly string[];
  readonly postgres: string;
  /**
   * The text for PostgreSQL takes an array per parameter and returns one row per element, in their
   * order: the calls of one tick become one statement. A row that begins with NULL stands for no
   * row.
   */
  readonly isBatched?: true;
  /**
   * The rows are JSON object texts. PostgreSQL returns those of an element in one text, a line
   * each.
   */
  readonly isJson?: true;
}

const PING: Statement = { name: 'ping', sqlite: 'PRAGMA schema_version', postgres: 'SELECT 1' };

export type PoolState = Record<'in_use' | 'idle' | 'waiting', number>;

/**
 * The hot path of the database: statements for pets, keys and idempotency records. Everything else
 * goes through TypeORM.
 */
export abstract class Database {
  /** Runs a read on committed data. */
  abstract query<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]>;

  /**
   * Runs a durable write: when the promise resolves, neither a crash of this process nor a power
   * failure loses it. A failed write leaves nothing behind and affects no other write.
   * @throws {Error} on SQLite, within a transaction of TypeORM
   */
  abstract write<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]>;

  /**
   * Runs a short read that never waits for requests, for the change poller and readiness.
   * @throws if there is no answer within a second, or the file of SQLite was moved
   */
  abstract observe<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]>;

  /** Checks that the database can be used. */
  async ping(): Promise<void> {
    await this.observe(PING);
  }

  /** Connections for requests; on SQLite, the one writer. */
  abstract pool(): PoolState;
}
