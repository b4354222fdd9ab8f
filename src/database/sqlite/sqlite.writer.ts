import { setTimeout as pause } from 'node:timers/promises';
import { isBusy } from '../outage.js';

/** How long a write waits for the lock of another process. */
const LOCK_DEADLINE_MS = 3_000;
/**
 * Short, because a process that writes one transaction after another leaves short gaps between
 * them.
 */
const LOCK_RETRY_MS = 2;

/**
 * Lets the writers of this process write one after the other, first come, first served: the commits
 * of the `Database` port, the transactions of TypeORM and its single statements. Two connections
 * that compete for SQLite's own lock starve each other.
 */
export class SqliteWriter {
  readonly queue: (() => void)[] = [];
  isHeld = false;

  /** Called after each writer, before the next one. */
  onRelease = (): void => undefined;

  /** @param assertInPlace throws if the database is no longer at its path */
  constructor(private readonly assertInPlace: () => void) {}

  /** Runs a write that is a transaction by itself. */
  async run<Result>(write: () => Result | Promise<Result>): Promise<Result> {
    const result = await this.acquire(write);
    this.release();
    return result;
  }

  /**
   * Waits for its turn, and calls `begin` until no other process holds the lock. To wait within
   * SQLite would block the event loop. Then the caller has the turn until `release()`, unless
   * `begin` failed.
   */
  async acquire<Result>(begin: () => Result | Promise<Result>): Promise<Result> {
    if (this.isHeld) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.isHeld = true;
    const deadline = performance.now() + LOCK_DEADLINE_MS;
    for (;;) {
      try {
        this.assertInPlace();
        return await begin();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) {
          this.release();
          throw error;
        }
      }
      await pause(LOCK_RETRY_MS);
    }
  }

  release(): void {
    this.onRelease();
    const next = this.queue.shift();
    if (next === undefined) this.isHeld = false;
    else next();
  }
}
