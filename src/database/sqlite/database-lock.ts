import { realpathSync, rmSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { isBusy } from '../outage.js';
import { SqliteFile } from './sqlite.file.js';

const BUSY_TIMEOUT_MS = 500;

/**
 * Makes one process the server of a database file. The lock is a transaction of SQLite on a lock file, so it ends with
 * the process, also after `kill -9`. In the database itself, every backup would contain it.
 *
 * There are two lock files. The one beside the database is seen by all containers that share the directory. The one in
 * the temporary directory is named after device and inode, so a hard link to the same file is recognised.
 */
export class DatabaseLock {
  private constructor(
    private readonly beside: Database,
    private readonly ofInode: Database | undefined,
  ) {}

  /**
   * Creates the file if there is none, but does not open it: it may be broken and about to be restored.
   * @throws {DatabaseServedError} if another process has it
   */
  static acquire(path: string): DatabaseLock {
    new SqliteFile(path).create();
    const beside = lock(`${realpathSync(path)}-server`, path);
    try {
      return new DatabaseLock(beside, lockInode(path));
    } catch (error) {
      beside.close();
      throw error;
    }
  }

  release(): void {
    if (this.ofInode) rmSync(this.ofInode.name, { force: true });
    this.ofInode?.close();
    this.beside.close();
  }
}

/** @returns undefined if the temporary directory cannot be written */
function lockInode(path: string): Database | undefined {
  const { dev, ino } = statSync(path);
  try {
    return lock(join(tmpdir(), `petstore-${dev}-${ino}.lock`), path);
  } catch (error) {
    if (error instanceof DatabaseServedError) throw error;
    return undefined;
  }
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
    const failure = isBusy(error) ? new DatabaseServedError(path, holderIn(database)) : error;
    database.close();
    throw failure;
  }
}

function holderIn(database: Database): unknown {
  try {
    return database.prepare('SELECT name FROM holder').pluck().get();
  } catch {
    // The holder is just writing its name.
    return 'another process';
  }
}

export class DatabaseServedError extends Error {
  constructor(path: string, holder: unknown) {
    super(
      `The database ${path} is already served by ${String(holder)}: ` +
        'stop that server, or set DATABASE_URL to another file',
    );
  }
}
