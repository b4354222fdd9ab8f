import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { explainAt } from '../../config/fixes.js';
import { MIGRATIONS_TABLE } from '../data-source-options.js';
import { databaseError, isBusy } from '../database-error.js';
import { assertNotMoved, createFile, lockFile, LOG_SUFFIXES } from './sqlite.file.js';

const PROBLEMS: Readonly<Record<string, string>> = {
  SQLITE_CORRUPT: 'damaged',
  SQLITE_ERROR: 'not a database of this service',
  SQLITE_NOTADB: 'not an SQLite database',
};

/**
 * Leaves a file that cannot be read to the caller.
 * @throws {ExplainedError} if the file is not SQLite's, its tables belong to another program, or it
 *   was moved
 */
export function assertNotForeign(path: string): void {
  assertNotMoved(path);
  let database: Sqlite.Database | undefined;
  try {
    database = new Sqlite(path, { fileMustExist: true, timeout: 0 });
    const tables = database.prepare('SELECT name FROM sqlite_master').pluck().all();
    if (tables.length === 0 || tables.includes(MIGRATIONS_TABLE)) return;
    throw databaseError('SQLITE_NOTADB', `${path} is not a database of this service`);
  } catch (error) {
    if ((error as { code: string }).code !== 'SQLITE_NOTADB') return;
    throw explainAt('sqlite', error, path, '');
  } finally {
    database?.close();
  }
}

/**
 * Copies a database into one file, for its owner only, while other processes may write to the
 * database. The copy gets the name `target` when it is complete and on the disk. If the process is
 * killed, a `.tmp` file remains.
 * @param lock restoring: locks the target until it is replaced
 * @returns the names of the migrations that created the schema
 * @throws if `source` is damaged or not a database of this service
 */
export function backupDatabase(source: string, target: string, lock?: () => () => void): string[] {
  const temporary = `${target}.${process.pid}.tmp`;
  let database: Sqlite.Database | undefined;
  let names: unknown[] | undefined;
  let release: (() => void) | undefined;
  try {
    database = new Sqlite(source, { fileMustExist: true });
    names = database.prepare(`SELECT name FROM ${MIGRATIONS_TABLE}`).pluck().all();
    // Fails if there is no such table.
    database.prepare('SELECT 1 FROM api_keys');
    release = lock?.();
    createFile(temporary);
    // Reads one snapshot and builds every index anew, so a damaged page fails here and is not
    // copied.
    database.prepare('VACUUM INTO ?').run(temporary);
    // SQLite would replay the log of the database that is replaced into the copy.
    for (const suffix of LOG_SUFFIXES) rmSync(target + suffix, { force: true });
    renameSync(temporary, target);
    return names as string[];
  } catch (error) {
    const problem = PROBLEMS[(error as { code: string }).code];
    if (problem !== undefined) throw new Error(`${source} is ${problem}`, { cause: error });
    // The target was not touched yet.
    const place = lock === undefined ? 'sqlite' : 'backup';
    throw names === undefined ? explainAt(place, error, source, `check ${source}`) : error;
  } finally {
    release?.();
    database?.close();
    rmSync(temporary, { force: true });
  }
}

/**
 * Replaces the database at `path`, which may be broken, with a backup.
 * @returns the names of the migrations that created its schema
 * @throws {DatabaseServedError} if a server has the database
 * @throws `SQLITE_BUSY` if another process has it open
 */
export function restoreDatabase(backup: string, path: string): string[] {
  const target = existsSync(path) ? realpathSync(path) : path;
  const lock = existsSync(target) ? lockAlone : lockFile;
  return backupDatabase(backup, target, () => lock(target));
}

/** @returns releases the lock */
function lockAlone(path: string): () => void {
  const unlock = lockFile(path);
  const database = new Sqlite(path);
  const release = () => {
    database.close();
    unlock();
  };
  try {
    // Fails while another process has the file open: its end would delete the log of the next
    // server. Moves the log into the file, so that a killed restore loses nothing.
    database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    // A broken file is replaced.
    if (isBusy(error)) {
      release();
      throw error;
    }
  }
  return release;
}
