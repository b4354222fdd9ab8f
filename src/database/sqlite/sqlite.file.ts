import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

export const OWNER_ONLY = 0o600;
/** Files that SQLite creates beside an open database. */
export const LOG_SUFFIXES: readonly string[] = ['-wal', '-shm'];

/**
 * A database file. If it is moved or deleted while it is open, SQLite keeps writing to the open file, and the next
 * process does not find those writes at the path. SQLite itself notices that only without a WAL.
 */
export class SqliteFile {
  private identity: string | undefined;

  constructor(readonly path: string) {}

  /** Creates the file if there is none, for its owner only. */
  create(): void {
    if (this.path === ':memory:') return;
    // Absolute: Node never returns from a relative path in a working directory that was removed.
    mkdirSync(dirname(resolve(this.path)), { recursive: true, mode: 0o700 });
    closeSync(openSync(this.path, 'a', OWNER_ONLY));
  }

  /** Closes the open database to other users. From now on, the path has to lead to the same file. */
  opened(): void {
    for (const suffix of ['', ...LOG_SUFFIXES]) {
      try {
        chmodSync(this.path + suffix, OWNER_ONLY);
      } catch {
        // There is none, or it belongs to another user, which doctor reports.
      }
    }
    this.identity = identityOf(this.path);
  }

  /** @throws an outage */
  assertInPlace(): void {
    if (identityOf(this.path) === this.identity) return;
    const message = `${this.path} was moved, deleted or replaced: put the file back, or restart the server`;
    throw Object.assign(new Error(message), { code: 'SQLITE_READONLY_DBMOVED' });
  }
}

function identityOf(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false });
  return status && `${status.dev}/${status.ino}`;
}
