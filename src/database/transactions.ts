import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import {
  DataSource,
  EntityManager,
  type EntitySubscriberInterface,
  EventSubscriber,
  type QueryRunner,
} from 'typeorm';
import type { LaterInsert } from './later-insert.js';
import { outage } from './outage.js';

export type Work<Result> = (manager: EntityManager) => Promise<Result>;
type Callback = () => void;
type TransactionEvent = Required<Pick<EntityManager, 'queryRunner'>>;
type Isolation = Parameters<EntityManager['transaction']>[0];

const NESTED =
  'Nested transaction: use the EntityManager passed to the transaction callback ' +
  'instead of starting another write.';

const ENDED = 'The transaction has ended: await everything that is started within a transaction.';

/** A query runner whose transaction other code may join. */
export interface JoinableQueryRunner extends QueryRunner {
  /**
   * Undefined: only table gateways join. True: repositories and transactions join as well, and
   * `release()` does nothing. False: the sharing has ended, and joining is an error.
   */
  isShared?: boolean;
}

/** Tracks the transaction of TypeORM that the running code belongs to. */
class TransactionScope {
  private readonly runners = new AsyncLocalStorage<JoinableQueryRunner>();
  private readonly inserts = new AsyncLocalStorage<LaterInsert>();

  /** @param manager of the transaction that `work` belongs to */
  run<Result>(manager: EntityManager, work: Work<Result>): Promise<Result> {
    return this.runners.run(manager.queryRunner as JoinableQueryRunner, () => work(manager));
  }

  /** Runs `work`, whose insert is carried out later. */
  runBefore<Result>(insert: LaterInsert, work: () => Promise<Result>): Promise<Result> {
    return this.inserts.run(insert, work);
  }

  /** The insert that is carried out later, unless the code belongs to a transaction. */
  get laterInsert(): LaterInsert | undefined {
    return this.runners.getStore() === undefined ? this.inserts.getStore() : undefined;
  }

  /**
   * The query runner of the transaction that the running code belongs to.
   * @throws {Error} if the transaction has ended: what the code writes now would not belong to it
   */
  get current(): JoinableQueryRunner | undefined {
    const runner = this.runners.getStore();
    if (runner === undefined) return undefined;
    if (!runner.isTransactionActive || runner.isReleased) throw new Error(ENDED);
    return runner;
  }

  /** The same, if repositories and transactions join it. */
  get shared(): JoinableQueryRunner | undefined {
    const isShared = this.runners.getStore()?.isShared;
    if (isShared === false) throw new Error(ENDED);
    return isShared && this.current;
  }

  /** @throws {Error} within a transaction, for which another writer would wait forever */
  assertOutside(): void {
    const runner = this.runners.getStore();
    if (runner?.isTransactionActive && !runner.isReleased) throw new Error(NESTED);
  }
}

/** A data source that tracks the transaction that the running code belongs to. */
export abstract class ScopedDataSource extends DataSource {
  readonly transactions = new TransactionScope();

  protected abstract newQueryRunner(): QueryRunner;

  override createQueryRunner(): QueryRunner {
    const { shared } = this.transactions;
    if (shared !== undefined) return shared;
    const runner = this.newQueryRunner();
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new ScopedManager(this, runner);
  }
}

/** Runs the work of a transaction in its scope. */
class ScopedManager extends EntityManager {
  override transaction<Result>(first: unknown, second = first as Work<Result>): Promise<Result> {
    const { transactions } = this.dataSource as ScopedDataSource;
    const isolation = (first === second ? undefined : first) as Isolation;
    return super.transaction(isolation, async (manager) => {
      try {
        return await transactions.run(manager, second);
      } catch (error) {
        // TypeORM releases the query runner of a broken connection, and then refuses to use it.
        if (!manager.queryRunner!.isReleased) throw error;
        throw outage('08006', 'The connection broke in a transaction', error);
      }
    });
  }
}

/**
 * Runs `work` in one transaction. Everything that `work` does through TypeORM joins it: a
 * repository reads and writes within it, and a transaction becomes a savepoint of it.
 */
export function inSharedTransaction<Result>(
  dataSource: DataSource,
  work: Work<Result>,
): Promise<Result> {
  return dataSource.transaction(async (manager) => {
    const runner = manager.queryRunner as JoinableQueryRunner;
    const isInner = runner.isShared === true;
    runner.isShared = true;
    try {
      return await work(manager);
    } finally {
      runner.isShared = isInner;
    }
  });
}

/**
 * The option of `find` that locks the rows until the transaction of `manager` ends. On SQLite,
 * TypeORM rejects row locks, and a transaction needs none: it is the only writer.
 */
export function rowLock({ dataSource }: EntityManager): { lock?: { mode: 'pessimistic_write' } } {
  return dataSource.options.type === 'postgres' ? { lock: { mode: 'pessimistic_write' } } : {};
}

/**
 * Calls `callback` after the transaction of `manager` is committed, and never if it is rolled back.
 * Nothing waits for the callback; if it fails, the error is logged.
 * @param manager of a transaction; a manager outside of one stands for the transaction that the
 *   running code belongs to. Without a transaction, the callback is called now.
 */
export function afterCommit(manager: EntityManager, callback: () => unknown): void {
  const { transactions } = manager.dataSource as ScopedDataSource;
  const runner = manager.queryRunner ?? transactions.current;
  const pending = runner ? pendingOf(runner).at(-1) : transactions.laterInsert?.callbacks;
  const run = async (): Promise<void> => {
    try {
      await callback();
    } catch (error) {
      new Logger(afterCommit.name).error(error);
    }
  };
  if (pending === undefined) void run();
  else pending.push(() => void run());
}

/** Runs the callbacks of `afterCommit()`. */
@EventSubscriber()
export class AfterCommitSubscriber implements EntitySubscriberInterface {
  afterTransactionStart({ queryRunner }: TransactionEvent): void {
    pendingOf(queryRunner).push([]);
  }

  afterTransactionCommit({ queryRunner }: TransactionEvent): void {
    const pending = pendingOf(queryRunner);
    const callbacks = pending.pop() ?? [];
    if (pending.length > 0) pending.at(-1)!.push(...callbacks);
    else for (const callback of callbacks) callback();
  }

  afterTransactionRollback({ queryRunner }: TransactionEvent): void {
    pendingOf(queryRunner).pop();
  }
}

/**
 * A list of callbacks per open transaction of the query runner: the outermost one first, then its
 * savepoints.
 */
function pendingOf({ data }: QueryRunner): Callback[][] {
  return (data['afterCommit'] ??= []) as Callback[][];
}
