import type { OnApplicationShutdown } from '@nestjs/common';
import type { Database, Statement as Prepared } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import { Engine } from './engine.js';
import { isBusy } from './outage.js';
import { watchWrites } from './sqlite.connection.js';
import { SqliteFile } from './sqlite.file.js';
import { SqliteReader } from './sqlite.reader.js';
import { SqliteStatements } from './sqlite.statements.js';
import type { Parameter, Statement, Step, Work } from './statement.js';

/** How long writes wait, without holding up reads, while another process has the write lock. */
const LOCK_DEADLINE_MS = 3_000;
const LOCK_RETRY_MS = 10;

interface Unit {
  work: () => Work<unknown>;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * SQLite: writes on the one connection of TypeORM, reads on one of their own.
 *
 * Group commit: the units of work of one turn of the event loop share a transaction, and so one sync of
 * the disk, which is what a commit costs. Their callers hear of it after that commit. A unit that fails
 * takes the transaction with it; all of it is then done again, each unit in a transaction of its own.
 */
export class SqliteEngine extends Engine implements OnApplicationShutdown {
  private readonly statements: SqliteStatements;
  private readonly reader: SqliteReader | undefined;
  private readonly file: SqliteFile;
  private units: Unit[] = [];
  private waitingSince = 0;

  constructor(private readonly dataSource: DataSource) {
    super();
    const { database } = this;
    this.file = new SqliteFile(database.name);
    this.statements = new SqliteStatements(database);
    // A database in memory is that of its one connection.
    if (database.memory) return;
    const reader = new SqliteReader(database.name);
    watchWrites(database, reader.endView);
    this.reader = reader;
  }

  query<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Row[] {
    return this.toRead(statement).all(parameters) as Row[];
  }

  first<Row>(statement: Statement<Row>, ...parameters: Parameter[]): Row | undefined {
    return this.toRead(statement).get(parameters) as Row | undefined;
  }

  write<Result>(work: () => Work<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.units.push({ work, resolve: resolve as Unit['resolve'], reject });
      if (this.units.length === 1) setImmediate(this.commit);
    });
  }

  // One process, one turn: no other unit can be under way.
  // eslint-disable-next-line require-yield
  *tryLock(): Work<boolean> {
    return true;
  }

  ping(): Promise<void> {
    return Promise.resolve().then(() => {
      this.file.assertInPlace();
      this.database.pragma('schema_version');
    });
  }

  onApplicationShutdown(): void {
    this.reader?.close();
  }

  private readonly commit = (): void => {
    const units = this.units;
    try {
      // TypeORM may be in the middle of a transaction on this connection: a rollback of that one must
      // not undo an acknowledged write.
      if (this.database.inTransaction) throw new TransactionUnderWay();
      this.begin();
    } catch (error) {
      this.retryOrGiveUp(error);
      return;
    }
    this.waitingSince = 0;
    this.units = [];
    this.complete(units);
  };

  private retryOrGiveUp(error: unknown): void {
    const now = performance.now();
    if (this.waitingSince === 0) this.waitingSince = now;
    if (isBusy(error) && now - this.waitingSince < LOCK_DEADLINE_MS) {
      setTimeout(this.commit, LOCK_RETRY_MS);
      return;
    }
    const units = this.units;
    this.units = [];
    this.waitingSince = 0;
    for (const unit of units) unit.reject(error);
  }

  /** Fails at once where another process is writing: waiting here would hold up everyone. */
  private begin(): void {
    this.file.assertInPlace();
    this.database.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE');
  }

  /** Runs the units in the open transaction and commits it. */
  private complete(units: readonly Unit[]): void {
    let results: unknown[];
    try {
      results = units.map(({ work }) => this.drive(work()));
      this.database.exec('COMMIT');
    } catch (error) {
      if (this.database.inTransaction) this.database.exec('ROLLBACK');
      this.isolate(units, error);
      return;
    }
    units.forEach((unit, index) => unit.resolve(results[index]));
  }

  private isolate(units: readonly Unit[], error: unknown): void {
    if (units.length === 1) {
      units[0]!.reject(error);
      return;
    }
    for (const unit of units) {
      try {
        this.begin();
      } catch (cause) {
        unit.reject(cause);
        continue;
      }
      this.complete([unit]);
    }
  }

  private toRead(statement: Statement): Prepared {
    return (this.reader ?? this.statements).of(statement);
  }

  private drive(work: Work<unknown>): unknown {
    let step = work.next();
    while (!step.done) {
      const { statement, parameters }: Step = step.value;
      step = work.next(this.statements.of(statement).all(parameters));
    }
    return step.value;
  }

  private get database(): Database {
    return (this.dataSource.driver as unknown as { databaseConnection: Database })
      .databaseConnection;
  }
}

/** To the units that wait, no different from a lock of another process. */
class TransactionUnderWay extends Error {
  readonly code = 'SQLITE_BUSY';
}
