import { realpathSync, rmSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { isBusy } from '../outage.js';
import { SqliteFile } from './sqlite.file.js';

/** Suffix of the lock file beside a database. */
export const SERVER_SUFFIX = '-server';
const BUSY_TIMEOUT_MS = 500;

interface Holder {
  pid: number;
  host: string;
  since: string;
}

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
   * Does not open the database itself, which may be broken and about to be restored.
   * @throws {DatabaseServedError} if another process has it
   */
  static acquire(path: string): DatabaseLock {
    new SqliteFile(path).keepToOwner();
    const beside = lock(realpathSync(path) + SERVER_SUFFIX, path);
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
  new SqliteFile(lockFile).keepToOwner();
  const database = new Sqlite(lockFile, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN IMMEDIATE');
    database.exec('CREATE TABLE IF NOT EXISTS server (pid integer, host text, since text)');
    database.exec('DELETE FROM server');
    const insert = database.prepare('INSERT INTO server VALUES (?, ?, ?)');
    insert.run(process.pid, hostname(), new Date().toISOString());
    database.exec('COMMIT');
    // Held until the process ends. Others can still read who holds it.
    database.exec('BEGIN IMMEDIATE');
    return database;
  } catch (error) {
    const holder = isBusy(error) ? holderIn(database) : undefined;
    database.close();
    throw isBusy(error) ? new DatabaseServedError(path, holder) : error;
  }
}

/** @returns undefined while the holder is just being written */
function holderIn(database: Database): Holder | undefined {
  try {
    return database.prepare('SELECT * FROM server').get() as Holder | undefined;
  } catch {
    return undefined;
  }
}

export class DatabaseServedError extends Error {
  constructor(path: string, holder: Holder | undefined) {
    const server = holder
      ? `process ${holder.pid} on ${holder.host}, since ${holder.since}`
      : 'another process';
    super(
      `The database ${path} is already served by ${server}: ` +
        'stop that server, or set DATABASE_URL to another file',
    );
  }
}
