import type { Database, Statement } from 'better-sqlite3';
import { TransactionOverError, TransactionTimedOutError } from '../transactions.js';

/**
 * A connection for as long as one transaction has it. A statement that comes when the transaction is over,
 * as one that nobody awaited, must not become part of the next one's.
 */
export class SqliteTransaction {
  private why: Error | undefined;

  constructor(private readonly database: Database) {}

  get isOver(): boolean {
    return this.why !== undefined;
  }

  /** @throws {SqliteError} SQLITE_BUSY at once where another process is writing */
  begin(): void {
    this.database.exec('BEGIN IMMEDIATE');
  }

  prepare(source: string): Pick<Statement, 'reader' | 'all' | 'run'> {
    const { database } = this;
    this.assertOpen();
    const statement = database.prepare(source);
    return {
      reader: statement.reader,
      all: (...parameters) => (this.assertOpen(), statement.all(...parameters)),
      run: (...parameters) => (this.assertOpen(), statement.run(...parameters)),
    };
  }

  pragma(source: string): unknown {
    this.assertOpen();
    return this.database.pragma(source);
  }

  /** @throws what SQLite throws; the transaction is then still to be rolled back */
  commit(): void {
    this.assertOpen();
    this.database.exec('COMMIT');
    this.why = new TransactionOverError();
  }

  rollBack(why: Error = new TransactionOverError()): void {
    if (this.isOver) return;
    this.why = why;
    // An error, such as one of the disk, has ended it already.
    if (this.database.inTransaction) this.database.exec('ROLLBACK');
  }

  assertOpen(): void {
    if (this.why !== undefined) throw this.why;
  }

  get hasTimedOut(): boolean {
    return this.why instanceof TransactionTimedOutError;
  }
}
