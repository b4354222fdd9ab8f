import type { Database } from 'better-sqlite3';
import {
  DataSource,
  type DataSourceOptions,
  type EntitySchema,
  type MigrationInterface,
} from 'typeorm';
import { CreateSchema1764633600000 } from './migrations/1764633600000-create-schema.js';
import { prepareConnection } from './sqlite.connection.js';

export type MigrationClass = new () => MigrationInterface;
export type EntityClass = (new () => object) | string | EntitySchema;

const MIGRATIONS: readonly MigrationClass[] = [CreateSchema1764633600000];

const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 3_000;

export interface DataSourceSettings {
  /** `sqlite:PATH` or `postgres://...`. */
  url: string;
  poolSize: number;
  entities?: readonly EntityClass[];
  /** Of guest modules, after those of the service itself. */
  migrations?: readonly MigrationClass[];
}

/** The one place that tells the engines apart by their URL. Schema comes from migrations alone. */
export function dataSourceOptions(settings: DataSourceSettings): DataSourceOptions {
  const { url, poolSize, entities = [], migrations = [] } = settings;
  const common = {
    entities: [...entities],
    migrations: [...MIGRATIONS, ...migrations],
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'all' as const,
    synchronize: false,
    logging: false,
  };
  if (isEmbedded(url)) {
    return {
      ...common,
      type: 'better-sqlite3',
      database: url.slice('sqlite:'.length),
      prepareDatabase: (database) => prepareConnection(database as Database),
    };
  }
  return {
    ...common,
    type: 'postgres',
    url,
    poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: 'petstore',
    extra: {
      statement_timeout: STATEMENT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS + 500,
      keepAlive: true,
      // Several statements under way on one connection: see `postgres.reader.ts`.
      pipeline: true,
    },
  };
}

/** A DataSource whose schema builder knows that SQLite generates ids of the type INTEGER alone. */
export function createDataSource(options: DataSourceOptions): DataSource {
  const dataSource = new DataSource(options);
  if (options.type === 'better-sqlite3') {
    const { driver } = dataSource;
    const normalizeType = driver.normalizeType.bind(driver);
    driver.normalizeType = (column) =>
      'isGenerated' in column && column.isGenerated ? 'integer' : normalizeType(column);
  }
  return dataSource;
}

/** Whether the database is the embedded default, which belongs to this one server. */
export function isEmbedded(url: string): boolean {
  return url.startsWith('sqlite:');
}
