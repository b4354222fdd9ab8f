import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { explainAt, ExplainedError } from '../../config/fixes.js';
import { isBusy, isDamaged } from '../database-error.js';

const OWNER_ONLY = 0o600;
/** Files that SQLite creates beside an open database. The log may hold writes: delete it last. */
export const LOG_SUFFIXES: readonly string[] = ['-shm', '-wal'];
/** The suffixes of the database and of all files that belong to it. */
const COMPANIONS = ['', ...LOG_SUFFIXES, '-journal', '-server'];

const BUSY_TIMEOUT_MS = 500;

export class DatabaseServedError extends Error {}

/**
 * Creates a file for its owner only, with its directory, if there is none.
 * @throws {ExplainedError} if it cannot be created below /proc; see also `assertNotMoved`
 */
export function createFile(path: string): void {
  if (path === ':memory:') return;
  assertNotMoved(path);
  // `mkdirSync()` never returns below /proc, nor from a relative path in a working directory that
  // was removed.
  const directory = dirname(resolve(path));
  const isMissing = identityOf(directory) === undefined;
  if (isMissing && directory.startsWith('/proc/')) {
    throw new ExplainedError(`cannot create ${directory}`, 'set DATABASE_URL to another file');
  }
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', OWNER_ONLY));
}

/**
 * A new database at the path of a moved one would get its write-ahead log, which may hold the only
 * copy of acknowledged writes: SQLite deletes that log, or adds it to the wrong database.
 * @throws {ExplainedError} if a server runs on a file that was at this path, if only its log
 *   exists, or if the path is a link to a file that does not exist: that log is elsewhere
 */
export function assertNotMoved(path: string): void {
  // Reading does not wait for the lock.
  const isOther = readLock(path, holderOf)?.identity !== identityOf(path);
  if (isOther && isServed(path)) {
    throw new ExplainedError(`a server runs on ${path}, but that file was moved`, 'put it back');
  }
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  // SQLite deletes the log of an empty file as well.
  if (size) return;
  if (size === undefined && lstatSync(path, { throwIfNoEntry: false })) {
    const fix = 'put that file back, or remove the link';
    throw new ExplainedError(`${path} is a link to a file that does not exist`, fix);
  }
  const log = `${size === undefined ? path : realpathSync(path)}-wal`;
  if (!existsSync(log)) return;
  const fix = `put the database back, or move ${log} away`;
  throw new ExplainedError(`there is no database at ${path}, but its write-ahead log ${log}`, fix);
}

/** Restricts the files of an open database to their owner. */
export function protectFile(path: string): void {
  for (const suffix of ['', ...LOG_SUFFIXES]) {
    try {
      chmodSync(path + suffix, OWNER_ONLY);
    } catch {
      // There is none, or it belongs to another user, which doctor reports.
    }
  }
}

/** Whether the path is that of a database, or of a file that belongs to it. */
export function isPartOf(path: string, database: string): boolean {
  const folder = dirname(path);
  if (!existsSync(folder)) return false;
  const place = join(realpathSync(folder), basename(path));
  return COMPANIONS.some((suffix) => place === realpathSync(database) + suffix);
}

/** @returns device and inode, which all links to a file share; undefined if there is no file */
export function identityOf(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false });
  return status && `${status.dev}-${status.ino}`;
}

/**
 * Makes this process the server of a database file. The lock is a transaction of SQLite on a lock
 * file, so it ends with the process, also after `kill -9`. In the database itself, every backup
 * would contain it.
 *
 * There are two lock files. The one beside the database is seen by all containers that share the
 * directory. The one in the temporary directory is named after the identity, so a hard link to the
 * same file is recognised.
 *
 * The file is created if there is none, but not opened: it may be broken and about to be restored.
 * @returns releases the lock
 * @throws {DatabaseServedError} if another process has it
 */
export function lockFile(path: string): () => void {
  createFile(path);
  const held = [lock(lockBeside(path), path)];
  const release = () => held.forEach((each) => each.close());
  try {
    held.push(lock(join(tmpdir(), `petstore-${identityOf(path)}.lock`), path));
  } catch (error) {
    // If the temporary directory cannot be written, hard links are not recognised.
    if (error instanceof DatabaseServedError) {
      release();
      throw error;
    }
  }
  return release;
}

/** Whether a server has the database at `path`. Changes nothing. */
export function isServed(path: string): boolean {
  return isBusy(readLock(path, tryLock));
}

/**
 * Changes nothing.
 * @throws {ExplainedError} if no server can use the lock file beside the database
 */
export function assertLockable(path: string): void {
  const lockFile = lockBeside(path);
  try {
    if (existsSync(lockFile)) closeSync(openSync(lockFile, 'r+'));
    const error = readLock(path, tryLock);
    if (error !== undefined && !isBusy(error)) throw error;
  } catch (error) {
    throw explainLock(error, lockFile);
  }
}

function tryLock(lock: Database): Error | undefined {
  try {
    lock.exec('BEGIN IMMEDIATE; ROLLBACK');
  } catch (error) {
    return error as Error;
  }
}

function explainLock(error: unknown, lockFile: string): ExplainedError {
  if (isDamaged(error)) return new ExplainedError(`${lockFile} is damaged`, 'move it away');
  return explainAt('sqlite', error, lockFile, 'move it away');
}

function lockBeside(path: string): string {
  return `${existsSync(path) ? realpathSync(path) : path}-server`;
}

/** @returns undefined if there is no lock file, or if it cannot be read */
function readLock<Result>(path: string, read: (lock: Database) => Result): Result | undefined {
  const file = lockBeside(path);
  if (!existsSync(file)) return undefined;
  let database: Database | undefined;
  try {
    database = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
    return read(database);
  } catch {
    return undefined;
  } finally {
    database?.close();
  }
}

function lock(lockFile: string, path: string): Database {
  try {
    createFile(lockFile);
  } catch (error) {
    throw explainLock(error, lockFile);
  }
  const database = new Sqlite(lockFile, { timeout: BUSY_TIMEOUT_MS });
  const name = `process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}`;
  try {
    database.exec('BEGIN IMMEDIATE; DROP TABLE IF EXISTS holder');
    database.exec('CREATE TABLE holder (name, identity)');
    database.prepare('INSERT INTO holder VALUES (?, ?)').run(name, identityOf(path));
    // Held until the process ends. Others can still read the name of the holder.
    database.exec('COMMIT; BEGIN IMMEDIATE');
    return database;
  } catch (error) {
    if (!isBusy(error)) throw explainLock(error, lockFile);
    const holder = holderOf(database);
    database.close();
    throw new DatabaseServedError(
      `the database ${path} is in use by another server (${holder.name}); stop that server, or set DATABASE_URL to another file`,
    );
  }
}

/** The server that has a lock, or had it last. */
function holderOf(lock: Database): { name: string; identity: string } {
  return lock.prepare<[], { name: string; identity: string }>('SELECT * FROM holder').get()!;
}
