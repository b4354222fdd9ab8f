import type { ClientConfig } from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { withHost } from '../config/urls.js';
import { driverErrorOf, hasChangedNothing } from './outage.js';

/**
 * By the code or the message of an error of PostgreSQL, of Node or of the driver; the first that
 * matches.
 */
const FIXES: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(?:GET|VERIFY))/,
    'add sslrootcert=FILE to DATABASE_URL, where FILE has the CA certificate of PostgreSQL',
  ],
  [/does not support SSL/, 'turn TLS on in PostgreSQL, or remove sslmode from DATABASE_URL'],
  [/^ECONNREFUSED/, 'start PostgreSQL, or correct host and port in DATABASE_URL'],
  [/^28/, 'correct user and password in DATABASE_URL, or allow the user in pg_hba.conf'],
  [/^3D000/, 'create the database, or correct its name in DATABASE_URL'],
  [/^53300/, 'raise the connection limit, or lower DATABASE_POOL_SIZE'],
  [/instead of UTF8$/, 'create one with: createdb --encoding=UTF8 --template=template0 NAME'],
  [
    /unsupported startup parameter/,
    "add statement_timeout and idle_in_transaction_session_timeout to PgBouncer's " +
      'ignore_startup_parameters (docs/scaling.md)',
  ],
  [
    /^(?:26000|42P05)/,
    'this pooler loses prepared statements: use its session mode, ' +
      'or PgBouncer 1.21 or later with max_prepared_statements (docs/scaling.md)',
  ],
  [/^/, 'check DATABASE_URL, and that PostgreSQL runs and can be reached from this machine'],
];

/** PostgreSQL cannot be used: `reason` has host, port and cause. */
export class DatabaseConnectionError extends Error {
  constructor(
    readonly reason: string,
    readonly fix: string,
    cause: unknown,
  ) {
    super(`${reason}; ${fix}`, { cause });
  }
}

/**
 * Connects, and checks that the service can work with the server.
 * @throws {DatabaseConnectionError} on PostgreSQL
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
    // An AggregateError, of several addresses of one name, has no message.
    const { code = '', message = '' } = driverErrorOf(error) as { code?: string; message?: string };
    const [, fix] = FIXES.find(([pattern]) => pattern.test(code) || pattern.test(message))!;
    const { hostname, port, searchParams } = new URL(withHost(options.url!));
    const address = searchParams.get('host') ?? `${hostname || 'localhost'}:${port || 5432}`;
    const reason = `PostgreSQL at ${address} cannot be used: ${message || code}`;
    throw new DatabaseConnectionError(reason, fix, error);
  }
}

async function assertUtf8(dataSource: DataSource): Promise<void> {
  const [row] = await dataSource.query<[{ encoding: string; name: string }]>(
    `SELECT current_setting('server_encoding') AS encoding, current_database() AS name`,
  );
  if (row.encoding === 'UTF8') return;
  throw new Error(`the database ${row.name} has the encoding ${row.encoding} instead of UTF8`);
}

/**
 * A pooler in transaction mode may use another server connection for a client's second
 * transaction. PgBouncer before 1.21 then loses the prepared statements. Here, a second client
 * occupies the first connection.
 */
async function assertKeepsStatements({ url, extra }: PostgresDataSourceOptions): Promise<void> {
  const { Client } = await import('pg');
  const config = { ...(extra as ClientConfig), connectionString: url };
  const [one, two] = [new Client(config), new Client(config)];
  // Without a listener, a connection that breaks ends the process.
  for (const client of [one, two]) client.on('error', () => undefined);
  const probe = (): Promise<unknown> => one.query({ name: 'petstore_probe', text: 'SELECT 1' });
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
