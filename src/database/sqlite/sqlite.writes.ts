import { setTimeout as pause } from 'node:timers/promises';
import { isBusy } from '../outage.js';
import { ExactDatabase } from './sqlite.connection.js';
import { type SqliteFile, WriteGate } from './sqlite.file.js';
import { SqliteTransaction } from './sqlite.transaction.js';

/** How long a write waits, without holding up reads, while another process has the write lock. */
export const LOCK_DEADLINE_MS = 3_000;
/** Short: whoever writes one transaction after the other leaves no long gap between two of them. */
export const LOCK_RETRY_MS = 2;

/** Tries until no other process has the lock: to wait in SQLite itself would hold up everyone. */
export async function whenUnlocked<Result>(
  work: () => Result | Promise<Result>,
  deadline = performance.now() + LOCK_DEADLINE_MS,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
    }
    await pause(LOCK_RETRY_MS);
  }
}

/** What TypeORM writes: one after the other, in turn with the engine. */
export class SqliteWrites {
  readonly gate = new WriteGate();
  private database: ExactDatabase | undefined;
  private current: SqliteTransaction | undefined;

  constructor(private readonly file: SqliteFile) {}

  /** @throws {SqliteError} SQLITE_BUSY where another process writes for too long */
  async begin(options: { foreignKeys: boolean }): Promise<SqliteTransaction> {
    const deadline = performance.now() + LOCK_DEADLINE_MS;
    await this.gate.enter();
    try {
      this.file.assertInPlace();
      this.database ??= new ExactDatabase(this.file.path);
      this.database.pragma(`foreign_keys = ${options.foreignKeys ? 'ON' : 'OFF'}`);
      const transaction = new SqliteTransaction(this.database);
      await whenUnlocked(() => transaction.begin(), deadline);
      return (this.current = transaction);
    } catch (error) {
      this.gate.leave();
      throw error;
    }
  }

  /** Lets the next one write; to be called once the transaction is over, any number of times. */
  end(transaction: SqliteTransaction): void {
    if (transaction !== this.current) return;
    this.current = undefined;
    this.gate.leave();
  }

  /** Runs one statement that is a transaction by itself. */
  async alone<Result>(write: () => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + LOCK_DEADLINE_MS;
    await this.gate.enter();
    try {
      this.file.assertInPlace();
      return await whenUnlocked(write, deadline);
    } finally {
      this.gate.leave();
    }
  }

  close(): void {
    this.database?.close();
    this.database = undefined;
  }
}
