import { Client, type ClientConfig } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { addressOf, DatabaseConnectionError, toConnectionError } from './connection-error.js';

/** SQLSTATE of a prepared statement that is missing, or that another client has created under its name. */
const LOST_STATEMENT = /^(?:26000|42P05)$/;
/** SQLSTATE of PgBouncer for a startup parameter that it does not know. */
const PROTOCOL_VIOLATION = '08P01';

/**
 * Connects, and checks that the service can work with the server.
 * @throws {DatabaseConnectionError} with the fix, on PostgreSQL
 */
export async function connect(dataSource: DataSource): Promise<DataSource> {
  const { options } = dataSource;
  if (options.type !== 'postgres') return dataSource.initialize();
  try {
    await dataSource.initialize();
    await assertUtf8(dataSource);
    await assertKeepsStatements(options);
    return dataSource;
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    throw toConnectionError(error, options.url!);
  }
}

async function assertUtf8(dataSource: DataSource): Promise<void> {
  const [row] = await dataSource.query<[{ encoding: string; name: string }]>(
    `SELECT current_setting('server_encoding') AS encoding, current_database() AS name`,
  );
  if (row.encoding === 'UTF8') return;
  throw new DatabaseConnectionError(
    `the database ${row.name} has the encoding ${row.encoding}, and not UTF8`,
    `create one with: createdb --encoding=UTF8 --template=template0 NAME`,
  );
}

/**
 * A pooler in transaction mode may give the second transaction of a client another server connection. PgBouncer before
 * 1.21 does not take the prepared statements along. Here another client occupies the first connection.
 */
async function assertKeepsStatements({ url, extra }: PostgresDataSourceOptions): Promise<void> {
  // With every startup parameter that a pool of `serve` has.
  const config = { ...(extra as ClientConfig), connectionString: url, lock_timeout: 250 };
  const [one, two] = [new Client(config), new Client(config)];
  const probe = (): Promise<unknown> => one.query({ name: 'petstore_probe', text: 'SELECT 1' });
  try {
    await Promise.all([one.connect(), two.connect()]);
    await probe();
    await two.query('BEGIN');
    await probe();
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (code === PROTOCOL_VIOLATION) throw error;
    // Anything else, such as too few connections, is for the requests to report.
    if (!LOST_STATEMENT.test(code)) return;
    throw new DatabaseConnectionError(
      `the pooler at ${addressOf(url!)} loses prepared statements, as PgBouncer before 1.21 does in transaction mode`,
      'use session mode, PgBouncer 1.21 or later with max_prepared_statements, or no pooler',
      error,
    );
  } finally {
    for (const client of [one, two]) client.end().catch(() => undefined);
  }
}
