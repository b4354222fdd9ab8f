import { setTimeout as pause } from 'node:timers/promises';
import { isBusy, outage } from '../outage.js';
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
/** How long further writers join a transaction. */
const MAX_GROUP_MS = 5;

interface Turn {
  /** Whether its commit survives a power failure; undefined for a write on another connection. */
  isSynced: boolean | undefined;
  start: () => void;
}

/** The writers that share a transaction of SQLite. */
interface Group {
  isSynced: boolean;
  startedAtMs: number;
  /** Those that have ended, and wait for the commit. */
  ended: { resolve: () => void; reject: (error: unknown) => void }[];
}

/**
 * Lets the writers of this process write one after the other, first come, first served: group
 * commits, transactions of TypeORM, and its single statements. Two connections that compete for
 * SQLite's own lock starve each other. All transactions share one connection, so that its prepared
 * statements are kept.
 *
 * Most of the cost of a transaction is the sync of the disk. So writers that wait for their turn
 * join the transaction of those before them, each with a savepoint of its own, and one commit
 * makes all of them durable. None of them is acknowledged earlier.
 */
export class SqliteWriter {
  readonly queue: Turn[] = [];
  isHeld = false;
  private opened: DurableDatabase | undefined;
  private isSynced = true;
  private group: Group | undefined;

  /** Called after each commit, before the next one. */
  onCommit = (): void => undefined;

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
    const result = await this.acquire(undefined, write);
    this.onCommit();
    this.release();
    return result;
  }

  /**
   * Begins a transaction on `connection`. It ends with `commit()` or `rollback()`.
   * @param isSynced whether the commit survives a power failure
   */
  begin(isSynced = true): Promise<void> {
    return this.acquire(isSynced, () => {
      this.group ??= this.beginGroup(isSynced);
      this.execute('SAVEPOINT writer');
    });
  }

  /** @throws the error of SQLite, if nothing was written */
  commit(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.group!.ended.push({ resolve, reject });
      // An I/O error ends the transaction.
      if (this.connection.inTransaction) this.execute('RELEASE writer');
      this.release();
    });
  }

  rollback(): void {
    try {
      if (this.connection.inTransaction) {
        this.execute('ROLLBACK TO writer');
        this.execute('RELEASE writer');
      }
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
  private async acquire<Result>(
    isSynced: boolean | undefined,
    begin: () => Result | Promise<Result>,
  ): Promise<Result> {
    const turnDeadline = performance.now() + TURN_DEADLINE_MS;
    if (this.isHeld) await new Promise<void>((start) => this.queue.push({ isSynced, start }));
    this.isHeld = true;
    const deadline = performance.now() + LOCK_DEADLINE_MS;
    for (;;) {
      try {
        if (performance.now() >= turnDeadline) {
          throw outage('SQLITE_BUSY_TIMEOUT', 'Other writes took too long');
        }
        if (this.group === undefined) this.assertInPlace();
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

  private beginGroup(isSynced: boolean): Group {
    if (isSynced !== this.isSynced) {
      this.connection.pragma(`synchronous = ${isSynced ? 'FULL' : 'NORMAL'}`);
      this.isSynced = isSynced;
    }
    this.execute('BEGIN IMMEDIATE');
    return { isSynced, startedAtMs: performance.now(), ended: [] };
  }

  /** Gives the turn to the next writer, which joins the transaction unless that has to end. */
  private release(): void {
    const next = this.queue[0];
    if (this.group !== undefined && !this.isJoinedBy(next)) this.endGroup(this.group);
    this.queue.shift();
    if (next === undefined) this.isHeld = false;
    else next.start();
  }

  private isJoinedBy(next: Turn | undefined): boolean {
    const { isSynced, startedAtMs } = this.group!;
    const isOpen = this.connection.inTransaction && performance.now() - startedAtMs < MAX_GROUP_MS;
    return isOpen && next?.isSynced === isSynced;
  }

  private endGroup({ ended }: Group): void {
    this.group = undefined;
    try {
      if (!this.connection.inTransaction) {
        throw outage('SQLITE_IOERR', 'SQLite ended a transaction');
      }
      this.execute('COMMIT');
      for (const { resolve } of ended) resolve();
    } catch (error) {
      for (const { reject } of ended) reject(error);
      if (this.connection.inTransaction) this.execute('ROLLBACK');
    } finally {
      this.onCommit();
    }
  }

  private execute(text: string): void {
    this.connection.prepare(text).run();
  }
}
