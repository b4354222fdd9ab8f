import { realpathSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { isBusy } from '../outage.js';
import { SqliteFile } from './sqlite.file.js';

const BUSY_TIMEOUT_MS = 500;

export class DatabaseServedError extends Error {}

/**
 * Makes this process the server of a database file. The lock is a transaction of SQLite on a lock file, so it ends with
 * the process, also after `kill -9`. In the database itself, every backup would contain it.
 *
 * There are two lock files. The one beside the database is seen by all containers that share the directory. The one in
 * the temporary directory is named after device and inode, so a hard link to the same file is recognised.
 *
 * The file is created if there is none, but not opened: it may be broken and about to be restored.
 * @returns releases the lock
 * @throws {DatabaseServedError} if another process has it
 */
export function lockFile(path: string): () => void {
  new SqliteFile(path).create();
  const { dev, ino } = statSync(path);
  const held: Database[] = [];
  const release = (): void => held.forEach((each) => each.close());
  try {
    held.push(lock(`${realpathSync(path)}-server`, path));
    held.push(lock(join(tmpdir(), `petstore-${dev}-${ino}.lock`), path));
  } catch (error) {
    // If the temporary directory cannot be written, hard links are not recognised.
    if (held.length > 0 && !(error instanceof DatabaseServedError)) return release;
    release();
    throw error;
  }
  return release;
}

function lock(lockFile: string, path: string): Database {
  new SqliteFile(lockFile).create();
  const database = new Sqlite(lockFile, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS holder (name); DELETE FROM holder');
    const name = `process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}`;
    database.prepare('INSERT INTO holder VALUES (?)').run(name);
    // Held until the process ends. Others can still read the name of the holder.
    database.exec('COMMIT; BEGIN IMMEDIATE');
    return database;
  } catch (error) {
    const fix = 'stop that server, or set DATABASE_URL to another file';
    const failure = isBusy(error)
      ? new DatabaseServedError(
          `the database ${path} is already served by ${holderIn(database)}; ${fix}`,
        )
      : error;
    database.close();
    throw failure;
  }
}

function holderIn(database: Database): string {
  try {
    return database.prepare<[], string>('SELECT name FROM holder').pluck().get()!;
  } catch {
    // The holder is just writing its name.
    return 'another process';
  }
}
