import { closeSync, openSync, realpathSync, renameSync, rmSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { MIGRATIONS_TABLE } from '../data-source-options.js';
import { lockFile, LOG_SUFFIXES, OWNER_ONLY } from './sqlite.file.js';

const BUSY_TIMEOUT_MS = 5_000;
const PROBLEMS: Readonly<Record<string, string>> = {
  SQLITE_CORRUPT: 'damaged',
  SQLITE_ERROR: 'not a database of this service',
  SQLITE_NOTADB: 'not an SQLite database',
};

/**
 * Copies a database into one file, for its owner only, while other processes may write to the database. The copy gets
 * the name `target` when it is complete and on the disk. If the process is killed, a `.tmp` file remains.
 * @throws if `source` is damaged or not a database of this service
 */
export function backupDatabase(source: string, target: string): void {
  migrationsIn(source);
  const temporary = `${target}.${process.pid}.tmp`;
  closeSync(openSync(temporary, 'wx', OWNER_ONLY));
  try {
    // Reads one snapshot and builds every index anew, so a damaged page fails here and is not copied.
    withDatabase(source, (database) => database.prepare('VACUUM INTO ?').run(temporary));
    // SQLite would replay the log of the database that is replaced into the copy.
    for (const suffix of LOG_SUFFIXES) rmSync(target + suffix, { force: true });
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Replaces the database at `path`, which may be broken, with a backup.
 * @throws {DatabaseServedError} if a server has the database
 */
export function restoreDatabase(backup: string, path: string): void {
  migrationsIn(backup);
  const release = lockFile(path);
  try {
    backupDatabase(backup, realpathSync(path));
  } finally {
    release();
  }
}

/** @returns the names of the migrations that created the schema @throws if it is not a database of this service */
export function migrationsIn(path: string): string[] {
  return withDatabase(path, (database) => {
    const names = database.prepare(`SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY id`).pluck();
    return names.all() as string[];
  });
}

function withDatabase<Result>(path: string, work: (database: Sqlite.Database) => Result): Result {
  const database = new Sqlite(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    return work(database);
  } catch (error) {
    const problem = PROBLEMS[(error as { code: string }).code];
    if (problem === undefined) throw error;
    throw new Error(`${path} is ${problem}`, { cause: error });
  } finally {
    database.close();
  }
}
