import type { OnApplicationShutdown } from '@nestjs/common';
import { Database, type Parameter, type PoolState, type Statement } from '../database.js';
import type { DatabaseMetrics } from '../database-metrics.js';
import { isOutage } from '../outage.js';
import { DurableDatabase } from './sqlite.connection.js';
import type { SqliteDataSource } from './sqlite.data-source.js';
import { SqliteStatements } from './sqlite.statements.js';
import { whenUnlocked } from './sqlite.writer.js';

interface Write {
  statement: Statement;
  parameters: Parameter[];
  resolve: (rows: unknown[]) => void;
  reject: (error: unknown) => void;
}

/**
 * SQLite, on a connection of its own.
 *
 * Group commit: the writes of one tick share a transaction and its sync of the disk, which is most of the cost of a
 * commit. Each is acknowledged after the commit. If one of them fails, the transaction is rolled back and each write is
 * repeated in a transaction of its own, so that only that write fails. While another process holds the lock, writes wait
 * without blocking the event loop.
 */
export class SqliteDatabase extends Database implements OnApplicationShutdown {
  private readonly statements: SqliteStatements;
  private readonly waiting: Write[] = [];

  constructor(
    private readonly dataSource: SqliteDataSource,
    private readonly metrics: DatabaseMetrics,
  ) {
    super();
    const { file, writer } = dataSource;
    this.statements = new SqliteStatements(new DurableDatabase(file.path));
    writer.onRelease = this.statements.endView;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- SQLite answers synchronously
  async query<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const startedAtMs = performance.now();
    try {
      return this.statements.read(statement, parameters) as Row[];
    } finally {
      this.metrics.observe(statement.name, startedAtMs);
    }
  }

  write<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const rows = new Promise<unknown[]>((resolve, reject) => {
      this.dataSource.transactions.assertOutside();
      const waiting = this.waiting.push({ statement, parameters, resolve, reject });
      if (waiting === 1) setImmediate(() => void this.commitWaiting());
    });
    return this.metrics.time(statement.name, rows) as Promise<Row[]>;
  }

  async observe<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    this.dataSource.file.assertInPlace();
    return this.query(statement, ...parameters);
  }

  pool(): PoolState {
    const { isHeld, queue } = this.dataSource.writer;
    return { inUse: isHeld ? 1 : 0, idle: isHeld ? 0 : 1, waiting: queue.length };
  }

  onApplicationShutdown(): void {
    this.statements.connection.close();
  }

  /** Without a lock of another process, the writes are settled in the same tick. */
  private async commitWaiting(): Promise<void> {
    const { writer } = this.dataSource;
    await writer.acquire();
    try {
      let size = Infinity;
      while (this.waiting.length > 0) {
        const isCommitted = await whenUnlocked(() => this.commit(size));
        if (!isCommitted) size = 1;
      }
    } catch (error) {
      for (const { reject } of this.waiting.splice(0)) reject(error);
    } finally {
      writer.release();
    }
  }

  /**
   * Commits up to `size` of the waiting writes.
   * @returns false if one of several has failed and each must be repeated by itself
   * @throws if the transaction cannot begin
   */
  private commit(size: number): boolean {
    const { statements, waiting } = this;
    this.dataSource.file.assertInPlace();
    statements.endView();
    statements.connection.exec('BEGIN IMMEDIATE');
    const writes = waiting.splice(0, size);
    try {
      const rows = writes.map(({ statement, parameters }) => statements.run(statement, parameters));
      const startedAtMs = performance.now();
      statements.connection.exec('COMMIT');
      this.metrics.observe('commit', startedAtMs);
      this.metrics.batchSizes.observe(writes.length);
      writes.forEach(({ resolve }, index) => resolve(rows[index]!));
      return true;
    } catch (error) {
      this.rollBack();
      if (writes.length > 1 && !isOutage(error)) {
        waiting.unshift(...writes);
        return false;
      }
      for (const { reject } of writes) reject(error);
      return true;
    }
  }

  private rollBack(): void {
    const { connection } = this.statements;
    try {
      if (connection.inTransaction) connection.exec('ROLLBACK');
    } catch {
      // The error that ended the transaction is reported; the next BEGIN fails if the connection is unusable.
    }
  }
}
