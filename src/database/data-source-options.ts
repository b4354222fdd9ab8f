import { type DataSource, type DataSourceOptions, type EntitySchema } from 'typeorm';
import { AfterCommitSubscriber } from './after-commit.js';
import {
  type ExtensionMigrations,
  type MigrationClass,
  named,
  nameOf,
  ownedMigrations,
} from './extension-migrations.js';
import { MIGRATIONS } from './migrations/index.js';
import { PostgresDataSource } from './postgres/postgres.data-source.js';
import { DatabaseLock } from './sqlite/database-lock.js';
import { ExactDatabase } from './sqlite/sqlite.connection.js';
import { SqliteDataSource } from './sqlite/sqlite.data-source.js';

export type EntityClass = (new () => object) | string | EntitySchema;

/** A name of our own, because other applications in the same database often have a table `migrations`. */
export const MIGRATIONS_TABLE = 'petstore_migrations';

const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 3_000;

export interface DataSourceSettings {
  /** `sqlite:PATH` or `postgres://...`. */
  url: string;
  poolSize: number;
  entities?: readonly EntityClass[];
  extensions?: readonly ExtensionMigrations[];
}

/** The options of TypeORM for either engine. Only migrations change the schema. */
export function dataSourceOptions(settings: DataSourceSettings): DataSourceOptions {
  const { url, poolSize, entities = [], extensions = [] } = settings;
  const common = {
    entities: [...entities],
    migrations: allMigrations(extensions),
    subscribers: [AfterCommitSubscriber],
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: 'all' as const,
    synchronize: false,
    logging: false,
  };
  if (isEmbedded(url)) {
    return {
      ...common,
      type: 'better-sqlite3',
      database: pathOf(url),
      driver: ExactDatabase,
      // `ExactDatabase` caches them for all query runners.
      statementCacheSize: 0,
    };
  }
  return {
    ...common,
    type: 'postgres',
    url: withStrictTls(url),
    poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: 'petstore',
    // The outage itself is logged once; each idle connection that is lost in it needs no line.
    poolErrorHandler: () => undefined,
    extra: {
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS + 500,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
      keepAlive: true,
    },
  };
}

/** These modes mean verify-full to pg, which prints a warning of eight lines about that. */
function withStrictTls(url: string): string {
  if (url.includes('uselibpqcompat=true')) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

function allMigrations(extensions: readonly ExtensionMigrations[]): MigrationClass[] {
  const own = MIGRATIONS.map((Migration) => named(Migration));
  return [...own, ...extensions.flatMap(ownedMigrations)];
}

/** The names in the table of migrations after all have run. */
export function migrationNames(extensions: readonly ExtensionMigrations[]): string[] {
  return allMigrations(extensions).map(nameOf);
}

export function createDataSource(options: DataSourceOptions): DataSource {
  switch (options.type) {
    case 'better-sqlite3':
      return new SqliteDataSource(options);
    case 'postgres':
      return new PostgresDataSource(options);
    default:
      throw new Error(`databases of the type ${options.type} are not supported`);
  }
}

/**
 * Makes this process the server of an SQLite file. PostgreSQL may have several.
 * @throws {DatabaseServedError} if another server has it
 */
export function lockDatabase(url: string): DatabaseLock | undefined {
  if (!isEmbedded(url)) return undefined;
  return DatabaseLock.acquire(pathOf(url));
}

/** @returns the path of the SQLite file; undefined for PostgreSQL */
export function fileOf(url: string): string | undefined {
  return isEmbedded(url) ? pathOf(url) : undefined;
}

function pathOf(url: string): string {
  return url.slice('sqlite:'.length);
}

export function isEmbedded(url: string): boolean {
  return url.startsWith('sqlite:');
}
