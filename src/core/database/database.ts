import type { ScopedDataSource } from './transactions.js';

export type Parameter = string | number | bigint | null;

/**
 * A statement that is prepared once per connection. `$1`, `$2`, ... are its parameters. On SQLite,
 * list each parameter once, in order; names are ignored. An integer column is a bigint on SQLite;
 * PostgreSQL's driver returns an int64 as text.
 */
export interface Statement {
  /** Unique in the process: the name of the prepared statement and its label in the metrics. */
  readonly name: string;
  readonly sqlite: string;
  readonly postgres: string;
  /**
   * The text for PostgreSQL takes an array per parameter and returns one row per element, in their
   * order: the calls of one tick become one statement. NULL in the first column means that there is
   * no row, so that column must not be nullable.
   */
  readonly isBatched?: true;
  /**
   * A write in the background. On SQLite it is not synced: it survives a crash of the process, but
   * not a power failure.
   */
  readonly isBackground?: true;
  /** The rows are JSON object texts. PostgreSQL returns one newline-separated text per element. */
  readonly isJson?: true;
}

/** A statement whose text is the same for both engines. */
export function sameStatement(name: string, text: string): Statement {
  return { name, sqlite: text, postgres: text };
}

/**
 * A write in the background whose one parameter is the JSON array of its rows.
 * @param text creates the SQL text; `elements` is the function that reads the array
 * @param lock `lock` in the text for PostgreSQL; SQLite has one writer
 */
export function rowsStatement(
  name: string,
  text: (elements: string, lock: string) => string,
  lock = '',
): Statement {
  return {
    name,
    sqlite: text('json_each', ''),
    postgres: text('json_array_elements', lock),
    isBackground: true,
  };
}

const PING: Statement = { name: 'ping', sqlite: 'PRAGMA schema_version', postgres: 'SELECT 1' };

export type PoolState = Record<'in_use' | 'idle' | 'waiting', number>;

/**
 * Prepared statements, for the hot path and for table gateways. In the callback of a transaction,
 * a statement runs in it.
 */
export abstract class Database {
  abstract readonly dataSource: ScopedDataSource;

  /** Runs a read, outside of a transaction on committed data. */
  abstract query<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]>;

  /**
   * Runs a write. Outside of a transaction it is durable, unless it is a background write: when the
   * promise resolves, neither a crash of this process nor a power failure loses it. A failed write
   * leaves nothing behind and affects no other write.
   */
  abstract write<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]>;

  /**
   * Runs a short read that never waits for requests, for the change poller and readiness.
   * @throws if there is no answer within a second, or the file of SQLite was moved
   */
  abstract poll<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]>;

  /** Checks that the database can be used. */
  async ping(): Promise<void> {
    await this.poll(PING);
  }

  /** Connections for requests; on SQLite, the one writer. */
  abstract pool(): PoolState;
}
