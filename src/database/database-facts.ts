import { statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { connect } from './connect.js';
import {
  createDataSource,
  dataSourceOptions,
  fileOf,
  MIGRATIONS_TABLE,
} from './data-source-options.js';
import { NOW } from './database-time.js';
import { migrationsThatRan } from './migrate.js';

/** The state of a database, for `petstore doctor`. */
export interface DatabaseFacts {
  /** The engine and its version. */
  engine: string;
  /** The names of the migrations that ran. */
  migrations: string[];
  /** The clock to compare with that of this machine. SQLite has only the time of its latest write. */
  clock: string;
  aheadMs: number;
}

/**
 * Reads the facts without changing the database. PostgreSQL is connected to exactly as `serve` does.
 * @throws {DatabaseConnectionError} or an error of SQLite, if the database cannot be used or is damaged
 */
export async function readDatabaseFacts(url: string): Promise<DatabaseFacts> {
  const file = fileOf(url);
  return file === undefined ? postgresFacts(url) : sqliteFacts(file);
}

async function postgresFacts(url: string): Promise<DatabaseFacts> {
  const dataSource = await connect(createDataSource(dataSourceOptions({ url, poolSize: 1 })));
  try {
    const [row] = await dataSource.query<[{ version: string; nowMs: string }]>(
      `SELECT current_setting('server_version') AS version, ${NOW.postgres} AS "nowMs"`,
    );
    return {
      engine: `PostgreSQL ${row.version}`,
      clock: 'the clock of the database',
      aheadMs: Number(row.nowMs) - Date.now(),
      migrations: await migrationsThatRan(dataSource),
    };
  } finally {
    await dataSource.destroy();
  }
}

function sqliteFacts(path: string): DatabaseFacts {
  const database = new Sqlite(path, { fileMustExist: true });
  const read = (sql: string): string[] => database.prepare(sql).pluck().all() as string[];
  try {
    const tables = read(`SELECT name FROM sqlite_schema WHERE name = '${MIGRATIONS_TABLE}'`);
    // Checks every page, but not the order of the indexes, which would take much longer.
    const [fault = ''] = read('PRAGMA quick_check(1)');
    // The lines before the last one name the database.
    const message = `the file is damaged: ${fault.split('\n').at(-1)}`;
    if (fault !== 'ok') throw new Sqlite.SqliteError(message, 'SQLITE_CORRUPT');
    return {
      engine: `SQLite ${read('SELECT sqlite_version()')[0]}`,
      migrations: tables.flatMap((table) => read(`SELECT name FROM ${table}`)),
      clock: 'the latest write',
      // In the future if the clock of this machine was set back.
      aheadMs: Math.max(0, Math.floor(statSync(path).mtimeMs) - Date.now()),
    };
  } finally {
    database.close();
  }
}
