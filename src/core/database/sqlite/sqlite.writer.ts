import { AsyncResource } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { isBusy, databaseError } from '../database-error.js';
import { SqliteConnection } from './sqlite.connection.js';

/** How long a write waits if another process holds the lock. */
const LOCK_DEADLINE_MS = 3_000;
/** How long a write waits for its turn. Longer than one transaction may be open. */
const TURN_DEADLINE_MS = 6_000;
/**
 * Short, because a process that writes one transaction after another leaves short gaps between
 * them.
 */
const LOCK_RETRY_MS = 2;
/** How long writers may join a group. */
const MAX_GROUP_MS = 5;
const DEFERRED_KEYS = "SELECT 1 FROM sqlite_schema WHERE sql LIKE '%INITIALLY%DEFERRED%'";

/**
 * A commit survives a power failure (`durable`), or only a crash of the process (`background`).
 * `alone` is a durable write on TypeORM's own connection, which shares its commit with no other.
 */
type WriteKind = 'durable' | 'background' | 'alone';

/** A writer that waits for its turn, or has it. */
interface Turn {
  kind: WriteKind;
  /** Has the turn until it returns, or its promise resolves. Repeated while SQLite is busy. */
  run: () => unknown;
  reject: (error: unknown) => void;
  arrivedAtMs: number;
}

/** The writers that share a transaction of SQLite. */
interface Group {
  kind: WriteKind;
  startedAtMs: number;
  /** Finished writers waiting for the commit. */
  ended: { resolve: () => void; reject: (error: unknown) => void }[];
}

/**
 * Lets the writers of this process write one after the other, first come, first served: single
 * statements and transactions. Two connections that compete for SQLite's own lock starve each
 * other. All but the writes `alone` share one connection, so that its prepared statements are kept.
 *
 * Most of the cost of a transaction is the sync of the disk. So the writers of a tick, and those
 * that wait for their turn, form a group: they share one transaction of SQLite, and one commit
 * makes all of them durable. None of them is acknowledged earlier. A failed transaction
 * rolls back to its savepoint; SQLite rolls back a failed statement. The rest of the group is
 * unaffected.
 */
export class SqliteWriter {
  private readonly queue: Turn[] = [];
  private opened: SqliteConnection | undefined;
  private isSynced = true;
  private hasDeferredKeys: boolean | undefined;
  private group: Group | undefined;
  /** Ends the turn of the transaction that has it. */
  private release = (): void => undefined;

  /**
   * Called after each commit, before the next one.
   * @param writers how many writers it made durable; 0 if it failed, or if all were undone
   * @param startedAtMs when the commit started, by `performance.now()`
   */
  onCommit: (writers: number, startedAtMs: number) => void = () => undefined;

  /** @param assertInPlace throws if the database is no longer at its path */
  constructor(
    private readonly path: string,
    private readonly assertInPlace: () => void,
  ) {}

  /** The connection of the groups. Integers are read as bigints. */
  get connection(): SqliteConnection {
    this.opened ??= new SqliteConnection(this.path).defaultSafeIntegers();
    return this.opened;
  }

  /** The number of writers, with the one that has the turn. */
  get writers(): number {
    return this.queue.length;
  }

  /** Runs a write `alone`. */
  runAlone<Result>(write: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      // The turn begins in the context of another request.
      const run = AsyncResource.bind(async () => {
        const startedAtMs = performance.now();
        const result = await write();
        this.onCommit(1, startedAtMs);
        resolve(result);
      });
      this.enqueue('alone', run, reject);
    });
  }

  /** Runs a single statement on `connection`. */
  run<Result>(kind: WriteKind, statement: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const run = () => {
        const { ended } = this.join(kind);
        const result = statement();
        ended.push({ resolve: () => resolve(result), reject });
      };
      this.enqueue(kind, run, reject);
    });
  }

  /** Begins a transaction on `connection`. It ends with `commit()` or `rollback()`. */
  begin(): Promise<void> {
    return new Promise((resolve, reject) => {
      const run = (): Promise<void> => {
        this.join('durable');
        this.execute('SAVEPOINT writer');
        resolve();
        return new Promise((release) => (this.release = release));
      };
      this.enqueue('durable', run, reject);
    });
  }

  /** @throws the error of SQLite, if nothing was written */
  commit(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.group!.ended.push({ resolve, reject });
      this.endSavepoint('RELEASE writer');
    });
  }

  rollback(): void {
    this.endSavepoint('ROLLBACK TO writer', 'RELEASE writer');
  }

  close(): void {
    this.opened?.close();
  }

  private enqueue(kind: WriteKind, run: Turn['run'], reject: Turn['reject']): void {
    if (this.queue.length === 0) setImmediate(() => void this.serve());
    this.queue.push({ kind, run, reject, arrivedAtMs: performance.now() });
  }

  /**
   * Gives each writer its turn. While another process holds the lock, it tries again: to wait
   * within SQLite would block the event loop.
   */
  private async serve(): Promise<void> {
    for (let turn = this.queue[0]; turn !== undefined; turn = this.queue[0]) {
      const nowMs = performance.now();
      const waitedMs = nowMs - turn.arrivedAtMs;
      if (this.group !== undefined && !this.isJoinedBy(turn, nowMs)) this.endGroup(this.group);
      try {
        if (waitedMs >= TURN_DEADLINE_MS) {
          throw databaseError('SQLITE_BUSY_TIMEOUT', 'Other writes took too long');
        }
        if (this.group === undefined) this.assertInPlace();
        await turn.run();
      } catch (error) {
        if (isBusy(error) && waitedMs < LOCK_DEADLINE_MS) {
          await pause(LOCK_RETRY_MS);
          continue;
        }
        turn.reject(error);
      }
      // Commit before the last turn leaves the queue: until then, `enqueue` starts no second loop.
      if (this.queue.length === 1 && this.group !== undefined) this.endGroup(this.group);
      this.queue.shift();
    }
  }

  /** Joins the group, or begins one. */
  private join(kind: WriteKind): Group {
    if (this.group !== undefined) return this.group;
    const isSynced = kind === 'durable';
    if (isSynced !== this.isSynced) {
      this.connection.pragma(`synchronous = ${isSynced ? 'FULL' : 'NORMAL'}`);
      this.isSynced = isSynced;
    }
    this.execute('BEGIN IMMEDIATE');
    return (this.group = { kind, startedAtMs: performance.now(), ended: [] });
  }

  private isJoinedBy(next: Turn, nowMs: number): boolean {
    const { kind, startedAtMs } = this.group!;
    const isInTime = nowMs - startedAtMs < MAX_GROUP_MS;
    // A violated deferred foreign key fails the commit, and so the writes of the others in it.
    this.hasDeferredKeys ??= this.connection.prepare(DEFERRED_KEYS).get() !== undefined;
    if (this.hasDeferredKeys) return false;
    return isInTime && next.kind === kind && this.connection.inTransaction;
  }

  private endSavepoint(...statements: string[]): void {
    try {
      // An I/O error ends the transaction.
      if (this.connection.inTransaction) statements.forEach((each) => this.execute(each));
    } finally {
      this.release();
    }
  }

  private endGroup({ ended }: Group): void {
    this.group = undefined;
    const startedAtMs = performance.now();
    let writers = 0;
    try {
      if (!this.connection.inTransaction) {
        throw databaseError('SQLITE_IOERR', 'SQLite ended a transaction');
      }
      this.execute('COMMIT');
      writers = ended.length;
      for (const { resolve } of ended) resolve();
    } catch (error) {
      for (const { reject } of ended) reject(error);
      if (this.connection.inTransaction) this.execute('ROLLBACK');
    } finally {
      this.onCommit(writers, startedAtMs);
    }
  }

  private execute(text: string): void {
    this.connection.prepare(text).run();
  }
}
