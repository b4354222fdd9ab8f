import type { PoolClient } from 'pg';
import { QueryFailedError } from 'typeorm';
import { PostgresQueryRunner as TypeOrmQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { pendingOf } from '../after-commit.js';
import { assertNoControl, TransactionControlError } from '../transaction-control.js';
import {
  assertOutsideTransaction,
  MAX_OPEN_MS,
  tellOfTimeOut,
  TransactionAbortedError,
  TransactionOverError,
  TransactionTimedOutError,
} from '../transactions.js';

type Query = TypeOrmQueryRunner['query'];

/** TypeORM's, whose transactions are neither begun within another nor open for long. */
export class PostgresQueryRunner extends TypeOrmQueryRunner {
  /** Whoever shares it releases it: see `shared-transaction.ts`. */
  isShared = false;
  private timer: NodeJS.Timeout | undefined;
  private isMigrating = false;
  private hasTimedOut = false;
  private underWay = 0;
  private rolledBack: Promise<unknown> | undefined;
  /** From when its end is sent until that is answered: what came behind it would stand for itself. */
  private isEnding = false;

  /** A migration takes its time. */
  override async beforeMigration(): Promise<void> {
    this.isMigrating = true;
    clearTimeout(this.timer);
    await super.beforeMigration();
  }

  override async afterMigration(): Promise<void> {
    this.isMigrating = false;
    await super.afterMigration();
  }

  override async startTransaction(
    ...[isolation]: Parameters<TypeOrmQueryRunner['startTransaction']>
  ): Promise<void> {
    const isOutermost = !this.isTransactionActive;
    if (isOutermost) assertOutsideTransaction();
    await super.startTransaction(isolation);
    pendingOf(this).began();
    if (isOutermost && !this.isMigrating) {
      this.timer = setTimeout(() => {
        this.hasTimedOut = true;
        this.rollBackIfTimedOut();
        tellOfTimeOut(this);
      }, MAX_OPEN_MS);
    }
  }

  override async commitTransaction(): Promise<void> {
    if (this.transactionDepth === 1) clearTimeout(this.timer);
    await super.commitTransaction();
    pendingOf(this).committed();
  }

  override async rollbackTransaction(): Promise<void> {
    pendingOf(this).rolledBack();
    if (this.transactionDepth === 1) clearTimeout(this.timer);
    if (!this.hasTimedOut) return super.rollbackTransaction();
    if (this.transactionDepth > 1) {
      // The one around it is over as well, and has yet to hear of it.
      this.transactionDepth--;
      return;
    }
    // Behind a statement that is still under way.
    await (this.rolledBack ??= this.rollBackLate());
    this.rolledBack = undefined;
    this.hasTimedOut = false;
    this.isTransactionActive = false;
    this.transactionDepth = 0;
  }

  override async query(...statement: Parameters<Query>): ReturnType<Query> {
    if (this.hasTimedOut) throw new TransactionTimedOutError();
    if (!this.isTransactionActive) assertNoControl(statement[0]);
    const isEnd = statement[0] === 'COMMIT' || statement[0] === 'ROLLBACK';
    if (isEnd) this.isEnding = true;
    else if (this.isEnding) throw new TransactionOverError();
    this.underWay++;
    try {
      if (statement[0] === 'COMMIT') return await this.commit();
      const result: unknown = await super.query(...statement);
      if (!this.isTransactionActive && this.isWithinOne()) {
        await super.query('ROLLBACK');
        throw new TransactionControlError(statement[0]);
      }
      return result;
    } finally {
      this.underWay--;
      if (isEnd) this.isEnding = false;
      this.rollBackIfTimedOut();
    }
  }

  override async release(): Promise<void> {
    if (this.isShared) return;
    clearTimeout(this.timer);
    try {
      // Whoever has it next must find none.
      while (this.isTransactionActive) await this.rollbackTransaction();
    } catch {
      // A connection that is lost has rolled back by itself; of any other the state is known.
    }
    await this.leaveAny();
    await super.release();
  }

  /** As the connection has it from PostgreSQL, whatever TypeORM takes it for. */
  private isWithinOne(): boolean {
    const client = this.databaseConnection as PoolClient | undefined;
    return client !== undefined && client.getTransactionStatus() !== 'I';
  }

  /** A connection that cannot leave its transaction is given to nobody else. */
  private async leaveAny(): Promise<void> {
    if (!this.isWithinOne()) return;
    try {
      await (this.databaseConnection as PoolClient).query('ROLLBACK');
    } catch (error) {
      const { releaseCallback } = this;
      this.releaseCallback = () => releaseCallback?.(error);
    }
  }

  /** TypeORM does not look at what became of it. */
  private async commit(): Promise<unknown[]> {
    const client = (await this.connect()) as PoolClient;
    const { command } = await client.query('COMMIT').catch((error: Error) => {
      throw new QueryFailedError('COMMIT', undefined, error);
    });
    if (command !== 'COMMIT') throw new TransactionAbortedError();
    return [];
  }

  /** After the statement that is under way, if any: nothing of this transaction comes after it. */
  private rollBackIfTimedOut(): void {
    if (!this.hasTimedOut || this.underWay > 0) return;
    this.rolledBack ??= this.rollBackLate();
  }

  private rollBackLate(): Promise<unknown> {
    // A connection that is lost has rolled back by itself.
    return super.query('ROLLBACK').catch(() => undefined);
  }
}
