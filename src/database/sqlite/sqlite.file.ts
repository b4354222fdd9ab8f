import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isBusy } from '../outage.js';

export const OWNER_ONLY = 0o600;
/** Files that SQLite creates beside an open database. */
export const LOG_SUFFIXES: readonly string[] = ['-wal', '-shm'];

/** How long a write waits for the lock of another process. */
const LOCK_DEADLINE_MS = 3_000;
/** Short, because a process that writes one transaction after another leaves short gaps between them. */
const LOCK_RETRY_MS = 2;

/** Creates a file if there is none, for its owner only. */
export function createFile(path: string): void {
  if (path === ':memory:') return;
  // Absolute: Node never returns from a relative path in a working directory that was removed.
  mkdirSync(dirname(resolve(path)), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', OWNER_ONLY));
}

/**
 * The open file of a database, and its one writer.
 *
 * If the file is moved or deleted, SQLite keeps writing to it, and the next process does not find those writes at the
 * path. SQLite itself notices that only without a WAL.
 *
 * The writers of this process write one after the other, first come, first served: the commits of the `Database` port,
 * the transactions of TypeORM and its single statements. Two connections that compete for SQLite's own lock starve each
 * other.
 */
export class SqliteFile {
  readonly queue: (() => void)[] = [];
  isHeld = false;
  private identity: string | undefined;

  constructor(readonly path: string) {}

  /** Called after each writer, before the next one. */
  onRelease = (): void => undefined;

  /** Closes the open file to other users. From now on, the path has to lead to the same file. */
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

  async acquire(): Promise<void> {
    if (this.isHeld) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.isHeld = true;
  }

  release(): void {
    this.onRelease();
    const next = this.queue.shift();
    if (next === undefined) this.isHeld = false;
    else next();
  }

  /** Runs a write that is a transaction by itself. */
  async run<Result>(write: () => Result | Promise<Result>): Promise<Result> {
    await this.acquire();
    try {
      return await this.whenUnlocked(write);
    } finally {
      this.release();
    }
  }

  /** Retries while another process holds the lock. To wait within SQLite would block the event loop. */
  async whenUnlocked<Result>(write: () => Result | Promise<Result>): Promise<Result> {
    const deadline = performance.now() + LOCK_DEADLINE_MS;
    for (;;) {
      this.assertInPlace();
      try {
        return await write();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw error;
      }
      await pause(LOCK_RETRY_MS);
    }
  }
}

function identityOf(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false });
  return status && `${status.dev}/${status.ino}`;
}
