import { setTimeout as pause } from 'node:timers/promises';
import { isBusy } from '../outage.js';
import { DurableDatabase } from './sqlite.connection.js';

/** How long a write waits for the lock of another process. */
const LOCK_DEADLINE_MS = 3_000;
/** How long a write waits for its turn. Longer than one transaction may be open. */
const TURN_DEADLINE_MS = 6_000;
/**
 * Short, because a process that writes one transaction after another leaves short gaps between
 * them.
 */
const LOCK_RETRY_MS = 2;

/**
 * Lets the writers of this process write one after the other, first come, first served: group
 * commits, transactions of TypeORM, and its single statements. Two connections that compete for
 * SQLite's own lock starve each other. All transactions share one connection, so that its prepared
 * statements are kept.
 */
export class SqliteWriter {
  readonly queue: (() => void)[] = [];
  isHeld = false;
  private opened: DurableDatabase | undefined;
  private isSynced = true;

  /** Called after each writer, before the next one. */
  onRelease = (): void => undefined;

  /** @param assertInPlace throws if the database is no longer at its path */
  constructor(
    private readonly path: string,
    private readonly assertInPlace: () => void,
  ) {}

  /** The connection of the transactions. Integers are read as bigints. */
  get connection(): DurableDatabase {
    this.opened ??= new DurableDatabase(this.path).defaultSafeIntegers();
    return this.opened;
  }

  /** Runs a write that is a transaction by itself, on another connection of this process. */
  async run<Result>(write: () => Promise<Result>): Promise<Result> {
    const result = await this.acquire(write);
    this.release();
    return result;
  }

  /**
   * Begins a transaction on `connection`. It ends with `commit()` or `rollback()`.
   * @param isSynced whether the commit survives a power failure
   */
  begin(isSynced = true): Promise<void> {
    return this.acquire(() => {
      this.setSynced(isSynced);
      this.connection.prepare('BEGIN IMMEDIATE').run();
    });
  }

  /** @throws the error of SQLite, after a rollback */
  commit(): void {
    try {
      this.connection.prepare('COMMIT').run();
    } finally {
      this.rollback();
    }
  }

  /** Ends a transaction, unless an I/O error has done so already. */
  rollback(): void {
    try {
      if (this.connection.inTransaction) this.connection.prepare('ROLLBACK').run();
    } finally {
      this.release();
    }
  }

  close(): void {
    this.opened?.close();
  }

  /**
   * Waits for its turn, and calls `begin` until no other process holds the lock. To wait within
   * SQLite would block the event loop. Then the caller has the turn until `release()`, unless
   * `begin` failed.
   */
  private async acquire<Result>(begin: () => Result | Promise<Result>): Promise<Result> {
    const turnDeadline = performance.now() + TURN_DEADLINE_MS;
    if (this.isHeld) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.isHeld = true;
    const deadline = performance.now() + LOCK_DEADLINE_MS;
    for (;;) {
      try {
        if (performance.now() >= turnDeadline) throw tooLate();
        this.assertInPlace();
        return await begin();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= Math.min(deadline, turnDeadline)) {
          this.release();
          throw error;
        }
      }
      await pause(LOCK_RETRY_MS);
    }
  }

  private setSynced(isSynced: boolean): void {
    if (isSynced === this.isSynced) return;
    this.connection.pragma(`synchronous = ${isSynced ? 'FULL' : 'NORMAL'}`);
    this.isSynced = isSynced;
  }

  private release(): void {
    this.onRelease();
    const next = this.queue.shift();
    if (next === undefined) this.isHeld = false;
    else next();
  }
}

function tooLate(): Error {
  const message = 'Other writes took too long';
  return Object.assign(new Error(message), { code: 'SQLITE_BUSY_TIMEOUT' });
}
