import type { OnApplicationShutdown } from '@nestjs/common';
import { type Call, Database, type Parameter, type Statement } from '../database.js';
import type { DatabaseMetrics } from '../database-metrics.js';
import { isOutage } from '../outage.js';
import { DurableDatabase } from './sqlite.connection.js';
import type { SqliteDataSource, SqliteQueryRunner } from './sqlite.data-source.js';

/**
 * SQLite, with one connection for reads, and one for writes.
 *
 * The reads of one tick share one read transaction, and so one view of the database: it saves 6 %
 * of a get. A view ends with its tick and with each write of this process.
 *
 * The writes of one tick share a transaction and its sync of the disk, which is most of the cost of
 * a commit. Each is acknowledged after the commit. If one of them fails, the transaction is rolled
 * back and each write is repeated in a transaction of its own, so that only that write fails. While
 * another process holds the lock, writes wait without blocking the event loop.
 */
export class SqliteDatabase extends Database implements OnApplicationShutdown {
  private readonly reader: DurableDatabase;
  private readonly writing: DurableDatabase;
  private readonly waiting: Call[] = [];

  constructor(
    readonly dataSource: SqliteDataSource,
    private readonly metrics: DatabaseMetrics,
  ) {
    super();
    this.reader = new DurableDatabase(dataSource.path).defaultSafeIntegers();
    this.writing = dataSource.writer.connection;
    dataSource.writer.onCommit = this.endView;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- SQLite answers synchronously
  async query<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const startedAtMs = performance.now();
    const transaction = this.dataSource.transactions.current as SqliteQueryRunner | undefined;
    try {
      if (transaction !== undefined) {
        transaction.assertOpen();
        return this.writing.run(statement, parameters) as Row[];
      }
      if (!this.reader.inTransaction) {
        this.dataSource.assertInPlace();
        this.reader.prepare('BEGIN').run();
        setImmediate(this.endView);
      }
      return this.reader.run(statement, parameters) as Row[];
    } finally {
      this.metrics.observe(statement.name, startedAtMs);
    }
  }

  write<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const { current } = this.dataSource.transactions;
    if (current !== undefined) return this.query(statement, ...parameters);
    const rows = new Promise<unknown[]>((resolve, reject) => {
      const write = { statement, parameters, resolve, reject };
      if (statement.isBackground) return void this.commit(() => [write], false);
      const waiting = this.waiting.push(write);
      if (waiting === 1) setImmediate(() => void this.commit(() => this.waiting.splice(0)));
    });
    return this.metrics.time(statement.name, rows) as Promise<Row[]>;
  }

  observe<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    return this.query(statement, ...parameters);
  }

  pool() {
    const { isHeld, queue } = this.dataSource.writer;
    return { in_use: isHeld ? 1 : 0, idle: isHeld ? 0 : 1, waiting: queue.length };
  }

  onApplicationShutdown(): void {
    this.reader.close();
  }

  /**
   * Commits writes together. Without a lock of another process, they are settled in the same tick.
   * @param take takes the writes when the transaction has begun: while it waits, further ones join
   */
  private async commit(take: () => Call[], isSynced = true): Promise<void> {
    const { writer } = this.dataSource;
    let writes: Call[] | undefined;
    let rows: unknown[][];
    try {
      await writer.begin(isSynced);
      writes = take();
      rows = this.runAll(writes);
      await this.metrics.time('commit', writer.commit());
    } catch (error) {
      writes ??= take();
      if (writes.length === 1 || isOutage(error)) for (const { reject } of writes) reject(error);
      else for (const write of writes) void this.commit(() => [write], isSynced);
      return;
    }
    this.metrics.batchSizes.observe(writes.length);
    writes.forEach(({ resolve }, index) => resolve(rows[index]!));
  }

  private runAll(writes: readonly Call[]): unknown[][] {
    try {
      return writes.map(({ statement, parameters }) => this.writing.run(statement, parameters));
    } catch (error) {
      this.dataSource.writer.rollback();
      throw error;
    }
  }

  private readonly endView = (): void => {
    if (this.reader.inTransaction) this.reader.prepare('ROLLBACK').run();
  };
}
