import { setTimeout as pause } from 'node:timers/promises';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Database as Connection } from 'better-sqlite3';
import { batchPerTick } from '../../time/batch-per-tick.js';
import { Database, type Parameter, PING, type PoolState, type Statement } from '../database.js';
import type { DatabaseMetrics } from '../database-metrics.js';
import { isBusy, isOutage } from '../outage.js';
import { openForWriting } from './sqlite.connection.js';
import type { SqliteDataSource } from './sqlite.data-source.js';
import { SqliteReader, SqliteStatements } from './sqlite.statements.js';
import { LOCK_DEADLINE_MS, LOCK_RETRY_MS, type SqliteWriter } from './sqlite.writer.js';

interface Write {
  statement: Statement;
  parameters: Parameter[];
  resolve: (rows: unknown[]) => void;
  reject: (error: unknown) => void;
  /** When it stops waiting for the lock of another process. */
  deadline: number;
}

/**
 * SQLite, on two connections of its own: one for writes, one for reads.
 *
 * Group commit: the writes of one tick share a transaction and its sync of the disk, which is most of the cost of a
 * commit. Each is acknowledged after the commit. If one of them fails, the transaction is rolled back and repeated with
 * a savepoint per write, so that only that write fails. While another process holds the lock, writes wait without
 * blocking the event loop.
 */
export class SqliteDatabase extends Database implements OnApplicationShutdown {
  private readonly addToBatch = batchPerTick<Write>((writes) => void this.enqueue(writes));
  private readonly writer: SqliteWriter;
  private connections: { reader: SqliteReader; writer: SqliteStatements } | undefined;
  private waiting: Write[] = [];
  private isCommitting = false;

  constructor(
    private readonly dataSource: SqliteDataSource,
    private readonly metrics: DatabaseMetrics,
  ) {
    super();
    this.writer = dataSource.writer;
    this.writer.mutex.onRelease(() => this.connections?.reader.endView());
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- SQLite answers synchronously
  async query<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const startedAtMs = performance.now();
    try {
      return this.open().reader.all(statement, parameters) as Row[];
    } finally {
      this.metrics.observe(statement.name, startedAtMs);
    }
  }

  write<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const rows = new Promise<unknown[]>((resolve, reject) => {
      this.dataSource.transactions.assertOutside();
      this.addToBatch({ statement, parameters, resolve, reject, deadline: 0 });
    });
    return this.metrics.time(statement.name, rows) as Promise<Row[]>;
  }

  observe<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    return this.query(statement, ...parameters);
  }

  async ping(): Promise<void> {
    this.dataSource.file.assertInPlace();
    await this.query(PING);
  }

  pool(): PoolState {
    const { isHeld, waiting } = this.writer.mutex.state;
    return { inUse: isHeld ? 1 : 0, idle: isHeld ? 0 : 1, waiting };
  }

  onApplicationShutdown(): void {
    this.connections?.reader.close();
    this.connections?.writer.connection.close();
  }

  private async enqueue(writes: Write[]): Promise<void> {
    const deadline = performance.now() + LOCK_DEADLINE_MS;
    for (const write of writes) write.deadline = deadline;
    this.waiting = this.waiting.length === 0 ? writes : [...this.waiting, ...writes];
    if (this.isCommitting) return;
    this.isCommitting = true;
    const { mutex } = this.writer;
    if (!mutex.tryAcquire()) await mutex.acquire();
    try {
      await this.commitWaiting();
    } finally {
      this.isCommitting = false;
      mutex.release();
    }
  }

  /** The promise resolves in the same tick unless another process holds the lock. */
  private async commitWaiting(): Promise<void> {
    let hasSavepoints = false;
    while (this.waiting.length > 0) {
      try {
        this.dataSource.file.assertInPlace();
        this.open().writer.connection.exec('BEGIN IMMEDIATE');
      } catch (error) {
        this.rejectLate(error);
        if (this.waiting.length > 0) await pause(LOCK_RETRY_MS);
        continue;
      }
      const writes = this.waiting;
      this.waiting = [];
      if (this.commit(writes, hasSavepoints)) continue;
      this.waiting = writes;
      hasSavepoints = true;
    }
  }

  private rejectLate(error: unknown): void {
    const now = performance.now();
    const isLate = ({ deadline }: Write): boolean => !isBusy(error) || deadline <= now;
    for (const write of this.waiting.filter(isLate)) write.reject(error);
    this.waiting = this.waiting.filter((write) => !isLate(write));
  }

  /**
   * Runs the writes in the open transaction and commits it.
   * @returns false if one has failed and all must be repeated with savepoints
   */
  private commit(writes: readonly Write[], hasSavepoints: boolean): boolean {
    const { connection } = this.open().writer;
    try {
      const settled = writes.map((write) => this.run(write, hasSavepoints));
      const startedAtMs = performance.now();
      connection.exec('COMMIT');
      this.metrics.observe('commit', startedAtMs);
      this.metrics.batchSizes.observe(writes.length);
      this.open().reader.endView();
      for (const settle of settled) settle();
    } catch (error) {
      this.rollBack(connection);
      if (!hasSavepoints && writes.length > 1 && !isOutage(error)) return false;
      for (const { reject } of writes) reject(error);
    }
    return true;
  }

  private rollBack(connection: Connection): void {
    try {
      if (connection.inTransaction) connection.exec('ROLLBACK');
    } catch {
      // The error that ended the transaction is reported; the next BEGIN fails if the connection is unusable.
    }
  }

  /** @returns reports the outcome to the caller */
  private run(
    { statement, parameters, resolve, reject }: Write,
    hasSavepoint: boolean,
  ): () => void {
    const { writer } = this.open();
    const { connection } = writer;
    if (!hasSavepoint) {
      const rows = writer.run(statement, parameters);
      return () => resolve(rows);
    }
    connection.exec('SAVEPOINT one_write');
    try {
      const rows = writer.run(statement, parameters);
      connection.exec('RELEASE one_write');
      return () => resolve(rows);
    } catch (error) {
      if (isOutage(error) || !connection.inTransaction) throw error;
      connection.exec('ROLLBACK TO one_write');
      connection.exec('RELEASE one_write');
      return () => reject(error);
    }
  }

  /** Opened on first use: a command that needs no database does not create its files. */
  private open(): { reader: SqliteReader; writer: SqliteStatements } {
    if (this.connections === undefined) {
      const { path } = this.dataSource.file;
      const writer = new SqliteStatements(openForWriting(path));
      this.connections = { writer, reader: new SqliteReader(path) };
    }
    return this.connections;
  }
}
