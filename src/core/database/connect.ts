import type { ClientConfig } from 'pg';
import { type DataSource, QueryFailedError, TypeORMError } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { withHost } from '../config/urls.js';
import { CHECK_URL, ExplainedError, explained, fixOf } from '../config/fixes.js';
import { NOW } from './database-time.js';
import { databaseError, driverErrorOf, hasChangedNothing } from './database-error.js';
import { assertNotForeign } from './sqlite/sqlite.copy.js';

/**
 * With a larger offset, a node would delete the usage and the idempotency records of others, and
 * ban for longer than it should.
 */
const MAX_OFFSET_MS = 300_000;

/**
 * Connects, and checks that the service can work with the server.
 * @throws {ExplainedError} with the address and the fix
 */
export async function connect(dataSource: DataSource): Promise<DataSource> {
  const { options } = dataSource;
  if (options.type !== 'postgres') {
    const file = String(options.database);
    assertNotForeign(file);
    return explained('sqlite', file, () => dataSource.initialize());
  }
  try {
    await dataSource.initialize();
    await assertUsable(dataSource);
    await assertKeepsStatements(options);
    return dataSource;
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    // A fault of an entity, not of the connection.
    if (error instanceof TypeORMError && !(error instanceof QueryFailedError)) throw error;
    throw explainPostgres(error, options.url!);
  }
}

function explainPostgres(error: unknown, url: string): ExplainedError {
  // An AggregateError, of several addresses of one name, has no message.
  const { code = '', message = '' } = driverErrorOf(error) as { code?: string; message?: string };
  const { hostname, port, searchParams } = new URL(withHost(url));
  const address = searchParams.get('host') ?? `${hostname || 'localhost'}:${port || 5432}`;
  const reason = `PostgreSQL at ${address} cannot be used: ${message || code}`;
  return new ExplainedError(reason, fixOf('postgres', { code, message }) ?? CHECK_URL, error);
}

async function assertUsable(dataSource: DataSource): Promise<void> {
  const [row] = await dataSource.query<
    [{ encoding: string; name: string; schema: string | null; nowMs: string }]
  >(
    `SELECT current_setting('server_encoding') AS encoding, current_database() AS name,
      current_schema() AS schema, ${NOW.postgres} AS "nowMs"`,
  );
  const { encoding, name, schema, nowMs } = row;
  if (schema === null) throw databaseError('3F000', 'no schema of the search_path can be used');
  if (encoding !== 'UTF8') {
    throw new Error(`the database ${name} has the encoding ${encoding} instead of UTF8`);
  }
  const offsetMs = Math.abs(Number(nowMs) - Date.now());
  if (offsetMs < MAX_OFFSET_MS) return;
  const seconds = Math.round(offsetMs / 1_000);
  throw new Error(`its clock differs by ${seconds} s from the clock of this machine`);
}

/**
 * A pooler in transaction mode may use another server connection for a client's second
 * transaction. PgBouncer before 1.21 then loses the prepared statements. Here, a second client
 * occupies the first connection.
 */
async function assertKeepsStatements(options: PostgresDataSourceOptions): Promise<void> {
  const { Client } = await import('pg');
  const config = {
    ...(options.extra as ClientConfig),
    connectionString: options.url,
    connectionTimeoutMillis: options.connectTimeoutMS,
  };
  const [one, two] = [new Client(config), new Client(config)];
  // Without a listener, a connection that breaks ends the process.
  for (const client of [one, two]) client.on('error', () => undefined);
  const probe = () => one.query({ name: 'petstore_probe', text: 'SELECT 1' });
  try {
    await Promise.all([one.connect(), two.connect()]);
    await probe();
    await two.query('BEGIN');
    await probe();
  } catch (error) {
    // Anything else, such as too few connections, will be reported by the requests that hit it.
    if (hasChangedNothing(error)) throw error;
  } finally {
    for (const client of [one, two]) client.end().catch(() => undefined);
  }
}
