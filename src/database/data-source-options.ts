import { type DataSource, type DataSourceOptions, type EntitySchema } from 'typeorm';
import { type GuestMigrations, type MigrationClass, ownMigrations } from './guest-migrations.js';
import { CreateSchema1764633600000 } from './migrations/1764633600000-create-schema.js';
import { PostgresDataSource } from './postgres/postgres.data-source.js';
import { SqliteClaim } from './sqlite/sqlite.claim.js';
import { ExactDatabase } from './sqlite/sqlite.connection.js';
import { SqliteDataSource } from './sqlite/sqlite.data-source.js';

export type EntityClass = (new () => object) | string | EntitySchema;

const MIGRATIONS: readonly MigrationClass[] = [CreateSchema1764633600000];

export const MIGRATIONS_TABLE = 'migrations';
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 3_000;

export interface DataSourceSettings {
  /** `sqlite:PATH` or `postgres://...`. */
  url: string;
  poolSize: number;
  entities?: readonly EntityClass[];
  /** Of guests, after those of the service itself. */
  guests?: readonly GuestMigrations[];
}

/** The one place that tells the engines apart by their URL. Schema comes from migrations alone. */
export function dataSourceOptions(settings: DataSourceSettings): DataSourceOptions {
  const { url, poolSize, entities = [], guests = [] } = settings;
  const common = {
    entities: [...entities],
    migrations: allMigrations(guests),
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
      // The connection keeps them, for all query runners.
      statementCacheSize: 0,
    };
  }
  return {
    ...common,
    type: 'postgres',
    url,
    poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: 'petstore',
    // Of an outage there is one line: each idle connection that is lost in it needs none.
    poolErrorHandler: () => undefined,
    extra: {
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS + 500,
      keepAlive: true,
      // Several statements under way on one connection: see `postgres.reader.ts`.
      pipeline: true,
    },
  };
}

function allMigrations(guests: readonly GuestMigrations[]): MigrationClass[] {
  return [...MIGRATIONS, ...guests.flatMap(ownMigrations)];
}

/** As the database knows them once they ran. */
export function migrationNames(guests: readonly GuestMigrations[]): string[] {
  return allMigrations(guests).map((Migration) => new Migration().name ?? Migration.name);
}

/** TypeORM's, with the guarantees for transactions that both engines give. */
export function createDataSource(options: DataSourceOptions): DataSource {
  switch (options.type) {
    case 'better-sqlite3':
      return new SqliteDataSource(options);
    case 'postgres':
      return new PostgresDataSource(options);
    default:
      throw new Error(`There is no engine for a database of the type ${options.type}`);
  }
}

export type DatabaseClaim = SqliteClaim;

/**
 * Says that this process serves the database; several may on PostgreSQL.
 * @throws {DatabaseServedError} where another server has it
 */
export function claimDatabase(url: string): DatabaseClaim | undefined {
  return isEmbedded(url) ? SqliteClaim.take(pathOf(url)) : undefined;
}

/** Undefined where the database is not a file. */
export function fileOf(url: string): string | undefined {
  return isEmbedded(url) ? pathOf(url) : undefined;
}

function pathOf(url: string): string {
  return url.slice('sqlite:'.length);
}

/** Whether the database is the embedded default, which belongs to this one server. */
export function isEmbedded(url: string): boolean {
  return url.startsWith('sqlite:');
}
