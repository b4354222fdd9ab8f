import { statSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import { connect } from './connect.js';
import { createDataSource, dataSourceOptions, fileOf } from './data-source-options.js';
import { MIGRATIONS_TABLE, migrationsThatRan } from './schema-state.js';

const BUSY_TIMEOUT_MS = 3_000;

/** The state of a database, for `petstore doctor`. */
export interface DatabaseFacts {
  engine: 'SQLite' | 'PostgreSQL';
  version: string;
  /** The names of the migrations that ran. */
  migrations: string[];
  /** SQLite: what is wrong with the file. */
  damage?: string | undefined;
  /** SQLite: Unix milliseconds of the latest write, by the clock of this machine at that time. */
  latestMs?: number;
  /** PostgreSQL: how far its clock is ahead of this machine's. */
  clockAheadMs?: number;
  /** PostgreSQL: whether the role may create tables, as migrations do. */
  canCreate?: boolean;
}

/**
 * Reads the facts without changing the database. PostgreSQL is connected to exactly as `serve` does.
 * @throws {DatabaseConnectionError} or an error of SQLite, if `serve` could not use the database
 */
export async function readDatabaseFacts(url: string): Promise<DatabaseFacts> {
  const file = fileOf(url);
  return file === undefined ? postgresFacts(url) : sqliteFacts(file);
}

async function postgresFacts(url: string): Promise<DatabaseFacts> {
  const dataSource = await connect(createDataSource(dataSourceOptions({ url, poolSize: 1 })));
  try {
    const startMs = Date.now();
    const [answer] = await dataSource.query<
      [{ version: string; canCreate: boolean | null; nowMs: string }]
    >(
      `SELECT current_setting('server_version') AS version,
        has_schema_privilege(current_schema(), 'CREATE') AS "canCreate",
        floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs"`,
    );
    return {
      engine: 'PostgreSQL',
      version: answer.version,
      migrations: await migrationsThatRan(dataSource),
      clockAheadMs: Number(answer.nowMs) - (startMs + Date.now()) / 2,
      canCreate: answer.canCreate === true,
    };
  } finally {
    await dataSource.destroy();
  }
}

function sqliteFacts(path: string): DatabaseFacts {
  const files = [path, `${path}-wal`].map((each) => statSync(each, { throwIfNoEntry: false }));
  const database = new Sqlite(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    return {
      engine: 'SQLite',
      version: database.prepare('SELECT sqlite_version()').pluck().get() as string,
      migrations: migrationsIn(database),
      damage: damageOf(database),
      latestMs: Math.max(...files.map((file) => file?.mtimeMs ?? 0)),
    };
  } finally {
    database.close();
  }
}

function migrationsIn(database: Database): string[] {
  const isThere = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?');
  if (isThere.get(MIGRATIONS_TABLE) === undefined) return [];
  return database.prepare(`SELECT name FROM ${MIGRATIONS_TABLE}`).pluck().all() as string[];
}

/** Checks every page, but not the order of the indexes, which would take much longer. */
function damageOf(database: Database): string | undefined {
  const found = database.pragma('quick_check(1)', { simple: true }) as string;
  // The lines before the last name the database.
  return found === 'ok' ? undefined : found.split('\n').at(-1);
}
