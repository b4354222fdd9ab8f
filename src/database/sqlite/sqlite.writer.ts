import { setTimeout as pause } from 'node:timers/promises';
import { isBusy } from '../outage.js';
import { Mutex } from './mutex.js';
import { ExactDatabase } from './sqlite.connection.js';
import type { SqliteFile } from './sqlite.file.js';

/** How long a write waits for the lock of another process. */
const LOCK_DEADLINE_MS = 3_000;
/** Short, because a process that writes one transaction after another leaves short gaps between them. */
const LOCK_RETRY_MS = 2;

/** Retries while another process holds the lock. To wait within SQLite would block the event loop. */
export async function whenUnlocked<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  const deadline = performance.now() + LOCK_DEADLINE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await pause(LOCK_RETRY_MS);
  }
}

/** The writes of TypeORM, one after the other and in turn with those of the `Database` port. */
export class SqliteWriter {
  readonly mutex = new Mutex();

  constructor(private readonly file: SqliteFile) {}

  /**
   * Begins a transaction on a connection of its own, so that a statement that comes late finds it closed.
   * @returns to be passed to `end()`
   * @throws {SqliteError} SQLITE_BUSY if another process holds the lock for too long
   */
  async begin({ foreignKeys }: { foreignKeys: boolean }): Promise<ExactDatabase> {
    await this.mutex.acquire();
    let connection: ExactDatabase | undefined;
    try {
      this.file.assertInPlace();
      connection = new ExactDatabase(this.file.path);
      connection.pragma(`foreign_keys = ${foreignKeys ? 'ON' : 'OFF'}`);
      await whenUnlocked(() => connection!.exec('BEGIN IMMEDIATE'));
      return connection;
    } catch (error) {
      connection?.close();
      this.mutex.release();
      throw error;
    }
  }

  /** Rolls back what is not committed, and lets the next writer in. */
  end(connection: ExactDatabase): void {
    connection.close();
    this.mutex.release();
  }

  /** Runs a statement that is a transaction by itself. */
  async alone<Result>(write: () => Promise<Result>): Promise<Result> {
    await this.mutex.acquire();
    try {
      this.file.assertInPlace();
      return await whenUnlocked(write);
    } finally {
      this.mutex.release();
    }
  }
}
