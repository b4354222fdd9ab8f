import type { OnApplicationShutdown } from '@nestjs/common';
import { Database, type Parameter, type Statement } from '../database.js';
import type { DatabaseMetrics } from '../database-metrics.js';
import { SqliteConnection } from './sqlite.connection.js';
import type { SqliteDataSource, SqliteQueryRunner } from './sqlite.data-source.js';

/** A process that is suspended within a tick must not find an old view when it resumes. */
const VIEW_MS = 100;

/**
 * SQLite, with one connection for reads, and the writer's connection for writes.
 *
 * The reads of one tick share one read transaction, and so one view of the database: it saves 6 %
 * of a get. A view ends with its tick, with each commit of this process, and after `VIEW_MS`.
 */
export class SqliteDatabase extends Database implements OnApplicationShutdown {
  private readonly reader: SqliteConnection;
  private readonly writing: SqliteConnection;
  private viewBeganAtMs = 0;

  constructor(
    readonly dataSource: SqliteDataSource,
    private readonly metrics: DatabaseMetrics,
  ) {
    super();
    this.reader = new SqliteConnection(dataSource.path).defaultSafeIntegers();
    this.writing = dataSource.writer.connection;
    dataSource.writer.onCommit = this.committed;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- SQLite answers synchronously
  async query<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const startedAtMs = performance.now();
    const { unitOfWork } = this.dataSource;
    try {
      if (unitOfWork !== undefined) {
        (unitOfWork.runner as SqliteQueryRunner).assertNotTimedOut();
        return this.writing.run(statement, parameters) as Row[];
      }
      if (startedAtMs - this.viewBeganAtMs > VIEW_MS) this.endView();
      if (!this.reader.inTransaction) {
        this.dataSource.assertInPlace();
        this.reader.prepare('BEGIN').run();
        this.viewBeganAtMs = startedAtMs;
        setImmediate(this.endView);
      }
      return this.reader.run(statement, parameters) as Row[];
    } finally {
      this.metrics.observe(statement.name, startedAtMs);
    }
  }

  write<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    const { unitOfWork, writer } = this.dataSource;
    if (unitOfWork !== undefined) return this.query(statement, ...parameters);
    const kind = statement.isBackground ? 'background' : 'durable';
    const rows = writer.run(kind, () => this.writing.run(statement, parameters) as Row[]);
    return this.metrics.time(statement.name, rows);
  }

  poll<Row>(statement: Statement, ...parameters: Parameter[]): Promise<Row[]> {
    return this.query(statement, ...parameters);
  }

  pool() {
    const { writers } = this.dataSource.writer;
    const inUse = Math.min(writers, 1);
    return { in_use: inUse, idle: 1 - inUse, waiting: writers - inUse };
  }

  onApplicationShutdown(): void {
    this.reader.close();
  }

  private readonly committed = (writers: number, startedAtMs: number): void => {
    this.endView();
    if (writers === 0) return;
    this.metrics.observe('commit', startedAtMs);
    this.metrics.batchSizes.observe(writers);
  };

  private readonly endView = (): void => {
    if (this.reader.inTransaction) this.reader.prepare('ROLLBACK').run();
  };
}
