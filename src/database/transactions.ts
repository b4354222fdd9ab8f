import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import {
  type DataSource,
  type EntityManager,
  type EntitySubscriberInterface,
  EventSubscriber,
  type QueryRunner,
} from 'typeorm';

export type Work<Result> = (manager: EntityManager) => Promise<Result>;
type Callback = () => Promise<void>;
type TransactionEvent = Required<Pick<EntityManager, 'queryRunner'>>;

const NESTED =
  'Nested transaction: use the EntityManager passed to the transaction callback instead of starting another write.';

/** Knows the transaction of TypeORM that the running code belongs to. */
export class TransactionScope {
  private readonly runners = new AsyncLocalStorage<QueryRunner>();
  private open = 0;

  /** @param manager of the transaction that `work` belongs to */
  async run<Result>(manager: EntityManager, work: Work<Result>): Promise<Result> {
    this.open++;
    try {
      return await this.runners.run(manager.queryRunner!, work, manager);
    } finally {
      // Before Node 24, every promise of the process is tracked while the storage is in use.
      if (--this.open === 0) this.runners.disable();
    }
  }

  /** The query runner of the shared transaction that the running code belongs to. */
  get sharedRunner(): QueryRunner | undefined {
    return this.current?.data['isShared'] ? this.current : undefined;
  }

  /** @throws {Error} within a transaction, for which another writer would wait forever */
  assertOutside(): void {
    if (this.current !== undefined) throw new Error(NESTED);
  }

  private get current(): QueryRunner | undefined {
    const runner = this.runners.getStore();
    return runner?.isTransactionActive && !runner.isReleased ? runner : undefined;
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
  const { transactions } = dataSource as DataSource & { transactions: TransactionScope };
  return dataSource.transaction(async (manager) => {
    const runner = manager.queryRunner!;
    const release = runner.release.bind(runner);
    runner.data['isShared'] = true;
    // A repository that joins releases the query runner after each of its statements.
    runner.release = () => Promise.resolve();
    try {
      return await transactions.run(manager, work);
    } finally {
      runner.release = release;
    }
  });
}

/**
 * Calls `callback` after the transaction of `manager` is committed, and never if it is rolled back.
 * Nothing waits for the callback; if it fails, the error is logged.
 * @throws {Error} outside a transaction
 */
export function afterCommit({ queryRunner }: EntityManager, callback: () => unknown): void {
  const callbacks = queryRunner && pendingOf(queryRunner).at(-1);
  if (!callbacks) throw new Error('afterCommit() must be called within a transaction.');
  callbacks.push(async () => {
    try {
      await callback();
    } catch (error) {
      new Logger(afterCommit.name).error(error);
    }
  });
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
    else for (const callback of callbacks) void callback();
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
