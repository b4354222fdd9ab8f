import type { Client } from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js';
import { UnitOfWorkSubscriber } from './unit-of-work.js';
import { allMigrations, type ExtensionMigrations } from './extension-migrations.js';
import { SqliteConnection } from './sqlite/sqlite.connection.js';
import { SqliteDataSource } from './sqlite/sqlite.data-source.js';

/**
 * A name of our own, because other applications in the same database often have a table
 * `migrations`.
 */
export const MIGRATIONS_TABLE = 'petstore_migrations';

/**
 * Whatever the role or the database sets, a commit must be on disk before its response, and a
 * transaction sees what others have committed while it waited for a lock.
 */
const SESSION = `SELECT set_config('default_transaction_isolation', 'read committed', false)
  WHERE current_setting('default_transaction_isolation') <> 'read committed';
  SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') = 'off'`;
const STATEMENT_TIMEOUT_MS = 3_000;

/**
 * The options of TypeORM for either engine. Only migrations change the schema.
 * @param url `sqlite:PATH` or `postgres://...`
 * @param poolSize connections to PostgreSQL
 */
export function dataSourceOptions(
  url: string,
  extensions: readonly ExtensionMigrations[] = [],
  poolSize = 1,
): DataSourceOptions {
  const common = {
    migrations: allMigrations(extensions),
    subscribers: [UnitOfWorkSubscriber],
    migrationsTableName: MIGRATIONS_TABLE,
  };
  const database = fileOf(url);
  if (database !== undefined) {
    // The connections keep the statements: a query runner exists for one use.
    return {
      ...common,
      type: 'better-sqlite3',
      database,
      driver: SqliteConnection,
      statementCacheSize: 0,
    };
  }
  return {
    ...common,
    type: 'postgres',
    url: withStrictTls(url),
    poolSize,
    connectTimeoutMS: 2_000,
    applicationName: 'petstore',
    // The outage itself is logged once, so no line per lost idle connection.
    poolErrorHandler: () => undefined,
    extra: {
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS + 500,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
      keepAlive: true,
      // An error reaches the query that waits for its answer. Without a listener, one that comes
      // later ends the process.
      onConnect: (client: Client) => {
        client.on('error', () => undefined);
        return client.query(SESSION);
      },
    },
  };
}

/** These modes mean verify-full to pg, which prints a warning of eight lines about that. */
function withStrictTls(url: string): string {
  if (url.includes('uselibpqcompat=true')) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

/** Loads the driver of PostgreSQL on demand: it takes 2 to 3 MB and 40 ms. */
export async function createDataSource(options: DataSourceOptions): Promise<DataSource> {
  if (options.type !== 'postgres') {
    return new SqliteDataSource(options as BetterSqlite3DataSourceOptions);
  }
  const { PostgresDataSource } = await import('./postgres/postgres.data-source.js');
  return new PostgresDataSource(options);
}

/** @returns the path of the SQLite file; undefined for PostgreSQL */
export function fileOf(url: string): string | undefined {
  return /^sqlite:(.*)/s.exec(url)?.[1];
}
