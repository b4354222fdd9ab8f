import { setTimeout as pause } from 'node:timers/promises';
import { isBusy } from '../outage.js';
import type { SqliteFile } from './sqlite.file.js';

/** How long a write waits for the lock of another process. */
const LOCK_DEADLINE_MS = 3_000;
/** Short, because a process that writes one transaction after another leaves short gaps between them. */
const LOCK_RETRY_MS = 2;

/**
 * Lets the writers of this process write one after the other, first come, first served: the commits of the `Database`
 * port, the transactions of TypeORM and its single statements. Two connections that compete for SQLite's own lock
 * starve each other.
 */
export class SqliteWriter {
  readonly queue: (() => void)[] = [];
  isHeld = false;

  /** Called after each writer, before the next one. */
  onRelease = (): void => undefined;

  constructor(private readonly file: SqliteFile) {}

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
      this.file.assertInPlace();
      try {
        return await write();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw error;
      }
      await pause(LOCK_RETRY_MS);
    }
  }
}
