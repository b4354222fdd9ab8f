import type { OnApplicationShutdown } from '@nestjs/common';
import type { Statement as Prepared } from 'better-sqlite3';
import { Database, type Parameter, type PoolState, type Statement } from '../database.js';
import type { DatabaseMetrics } from '../database-metrics.js';
import { isOutage } from '../outage.js';
import { DurableDatabase } from './sqlite.connection.js';
import type { SqliteDataSource } from './sqlite.data-source.js';

/** A prepared text of a statement, and the number of parameters that it takes. */
interface PreparedText {
  prepared: Prepared;
  parameters: number;
}

interface Write {
  statement: Statement;
  parameters: Parameter[];
  resolve: (rows: unknown[]) => void;
  reject: (error: unknown) => void;
}

/**
 * SQLite, on a connection of its own.
 *
 * The reads of one tick share one read transaction, and so one view of the database: to begin a
 * read costs 2 µs, the read of one row as much. A view ends with its tick and with each write of
 * this process.
 *
 * Group commit: the writes of one tick share a transaction and its sync of the disk, which is most
 * of the cost of a commit. Each is acknowledged after the commit. If one of them fails, the
 * transaction is rolled back and each write is repeated in a transaction of its own, so that only
 * that write fails. While another process holds the lock, writes wait without blocking the event
 * loop.
 */
export class SqliteDatabase extends Database implements OnApplicationShutdown {
  private readonly connection: DurableDatabase;
  private readonly begin: Prepared;
  private readonly rollback: Prepared;
  private readonly prepared = new Map<Statement, PreparedText[]>();
  private readonly waiting: Write[] = [];

  constructor(
    private readonly dataSource: SqliteDataSource,
    private readonly metrics: DatabaseMetrics,
  ) {
    super();
    this.connection = new DurableDatabase(dataSource.path).defaultSafeIntegers();
    this.begin = this.connection.prepare('BEGIN');
    this.rollback = this.connection.prepare('ROLLBACK');
    dataSource.writer.onRelease = this.endTransaction;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- SQLite answers synchronously
  async query<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const startedAtMs = performance.now();
    try {
      if (!this.connection.inTransaction) {
        this.begin.run();
        setImmediate(this.endTransaction);
      }
      return this.run(statement, parameters) as Row[];
    } finally {
      this.metrics.observe(statement.name, startedAtMs);
    }
  }

  write<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const rows = new Promise<unknown[]>((resolve, reject) => {
      this.dataSource.transactions.assertOutside();
      const waiting = this.waiting.push({ statement, parameters, resolve, reject });
      if (waiting === 1) setImmediate(() => void this.commit(() => this.waiting.splice(0)));
    });
    return this.metrics.time(statement.name, rows) as Promise<Row[]>;
  }

  async observe<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    this.dataSource.assertInPlace();
    return this.query(statement, ...parameters);
  }

  pool(): PoolState {
    const { isHeld, queue } = this.dataSource.writer;
    return { in_use: isHeld ? 1 : 0, idle: isHeld ? 0 : 1, waiting: queue.length };
  }

  onApplicationShutdown(): void {
    this.connection.close();
  }

  /**
   * Commits writes together. Without a lock of another process, they are settled in the same tick.
   * @param take takes the writes when the transaction has begun: while it waits, further ones join
   */
  private async commit(take: () => Write[]): Promise<void> {
    let writes: Write[] | undefined;
    try {
      await this.dataSource.writer.run(() => {
        this.endTransaction();
        this.connection.exec('BEGIN IMMEDIATE');
        writes ??= take();
        const rows = writes.map(({ statement, parameters }) => this.run(statement, parameters));
        const startedAtMs = performance.now();
        this.connection.exec('COMMIT');
        this.metrics.observe('commit', startedAtMs);
        this.metrics.batchSizes.observe(writes.length);
        writes.forEach(({ resolve }, index) => resolve(rows[index]!));
      });
    } catch (error) {
      writes ??= take();
      if (writes.length === 1 || isOutage(error)) for (const { reject } of writes) reject(error);
      else for (const write of writes) void this.commit(() => [write]);
    }
  }

  /** Ends a view, or undoes a write. An I/O error has done so already. */
  private readonly endTransaction = (): void => {
    if (this.connection.inTransaction) this.rollback.run();
  };

  private run(statement: Statement, values: readonly Parameter[]): unknown[] {
    let rows: unknown[] | undefined;
    let start = 0;
    for (const { prepared, parameters } of this.prepare(statement)) {
      const own = values.slice(start, (start += parameters));
      const result = prepared.reader ? prepared.all(own) : void prepared.run(own);
      rows ??= result ?? [];
    }
    return rows!;
  }

  private prepare(statement: Statement): PreparedText[] {
    const known = this.prepared.get(statement);
    if (known !== undefined) return known;
    const texts = [statement.sqlite].flat().map((text) => {
      // better-sqlite3 binds an array to anonymous parameters only.
      const parts = text.split(/\$\w+/);
      const prepared = this.connection.prepare(parts.join('?'));
      if (statement.isJson) prepared.pluck();
      return { prepared, parameters: parts.length - 1 };
    });
    this.prepared.set(statement, texts);
    return texts;
  }
}
