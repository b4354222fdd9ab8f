import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';

export const OWNER_ONLY = 0o600;
/** The mode bits that let other users in. */
export const OTHERS = 0o077;
/** Files that SQLite creates beside an open database. */
export const LOG_SUFFIXES: readonly string[] = ['-wal', '-shm'];

/**
 * A database file. If it is moved or deleted while it is open, SQLite keeps writing to the open file, and the next
 * process does not find those writes at the path. SQLite itself notices that only without a WAL.
 */
export class SqliteFile {
  private identity: string | undefined;

  constructor(readonly path: string) {}

  /** @throws {NotAFileError} if the path leads to a directory, for example */
  isThere(): boolean {
    const status = statSync(this.path, { throwIfNoEntry: false });
    if (status?.isFile() === false) throw new NotAFileError(this.path);
    return status !== undefined;
  }

  /**
   * To be called before anything is changed or created for this path, which may be wrong.
   * @throws {NotAFileError | NotADatabaseError}
   */
  assertDatabase(): void {
    if (this.isThere() && !isDatabase(this.path)) throw new NotADatabaseError(this.path);
  }

  /** Creates the file if there is none, and makes it accessible to its owner only. */
  keepToOwner(): void {
    if (this.path === ':memory:') return;
    const isThere = this.isThere();
    // Absolute: Node never returns from a relative path in a working directory that was removed.
    mkdirSync(dirname(resolve(this.path)), { recursive: true, mode: 0o700 });
    if (!isThere) closeSync(openSync(this.path, 'a', OWNER_ONLY));
    for (const suffix of ['', ...LOG_SUFFIXES]) closeToOthers(this.path + suffix);
  }

  /** From now on, the path has to lead to the file that it leads to now. */
  opened(): void {
    this.identity = identityOf(this.path);
  }

  /** @throws {DatabaseMovedError} */
  assertInPlace(): void {
    if (identityOf(this.path) !== this.identity) throw new DatabaseMovedError(this.path);
  }
}

export class NotAFileError extends Error {
  constructor(path: string) {
    super(`${path} is not a file: set DATABASE_URL to one, such as sqlite:./data/petstore.db`);
  }
}

export class NotADatabaseError extends Error {
  readonly code = 'SQLITE_NOTADB';

  constructor(path: string) {
    super(`${path} is not an SQLite database`);
  }
}

class DatabaseMovedError extends Error {
  readonly code = 'SQLITE_READONLY_DBMOVED';

  constructor(path: string) {
    super(`${path} was moved, deleted or replaced: put the file back, or restart the server`);
  }
}

/** SQLite itself looks: closing the file in another way would drop this process' locks on it. */
function isDatabase(path: string): boolean {
  let database: Sqlite.Database | undefined;
  try {
    database = new Sqlite(path, { fileMustExist: true });
    database.pragma('schema_version');
    return true;
  } catch (error) {
    // Other errors are reported when the database is used.
    return (error as { code?: unknown }).code !== 'SQLITE_NOTADB';
  } finally {
    database?.close();
  }
}

function identityOf(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false });
  return status && `${status.dev}/${status.ino}`;
}

function closeToOthers(path: string): void {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status?.isFile() || (status.mode & OTHERS) === 0) return;
  try {
    chmodSync(path, OWNER_ONLY);
  } catch {
    // The file of another user, or a file system without modes: doctor reports it.
  }
}
