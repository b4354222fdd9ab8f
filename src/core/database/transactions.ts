import { AsyncLocalStorage } from 'node:async_hooks';
import { DataSource, EntityManager, type QueryRunner } from 'typeorm';
import { databaseError } from './database-error.js';
import { run, UnitOfWork } from './unit-of-work.js';

type Work<Result> = (manager: EntityManager) => Promise<Result>;
type Isolation = Parameters<EntityManager['transaction']>[0];

/** A data source that knows the transaction that the running code belongs to. */
export abstract class ScopedDataSource extends DataSource {
  private readonly unitsOfWork = new AsyncLocalStorage<UnitOfWork>();

  /**
   * The unit of work that the running code belongs to.
   * @throws {Error} if it has ended: what the code writes now would not belong to it
   */
  get unitOfWork(): UnitOfWork | undefined {
    const { latest } = this;
    latest?.assertOpen();
    return latest;
  }

  /** @throws {Error} within a transaction, for which another writer would wait forever */
  assertOutside(): void {
    this.latest?.assertEnded();
  }

  /** Runs `work`, which belongs to the transaction of `manager`. */
  within<Result>(manager: EntityManager, work: Work<Result>): Promise<Result> {
    return this.unitsOfWork.run(UnitOfWork.of(manager.queryRunner!), () => work(manager));
  }

  override createQueryRunner(): QueryRunner {
    if (this.latest !== undefined && this.latest.joins !== 'gateways') {
      return this.unitOfWork!.runner;
    }
    const runner = this.newQueryRunner();
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new ScopedManager(this, runner);
  }

  protected abstract newQueryRunner(): QueryRunner;

  /** The same as `unitOfWork`, also if it has ended. */
  private get latest(): UnitOfWork | undefined {
    const latest = this.unitsOfWork.getStore();
    return latest?.isOfThisRequest ? latest : undefined;
  }
}

/** Runs the callback of a transaction in its unit of work. */
class ScopedManager extends EntityManager {
  override transaction<Result>(first: unknown, second = first as Work<Result>): Promise<Result> {
    const isolation = (first === second ? undefined : first) as Isolation;
    return super.transaction(isolation, async (manager) => {
      let cause: unknown;
      try {
        const result = await (this.dataSource as ScopedDataSource).within(manager, second);
        if (!manager.queryRunner!.isReleased) return result;
      } catch (error) {
        if (!manager.queryRunner!.isReleased) throw error;
        cause = error;
      }
      // TypeORM releases the query runner of a broken connection, and then rejects its use.
      throw databaseError('08006', 'The connection broke in a transaction', cause);
    });
  }
}

/**
 * Runs `work` in a transaction. Everything that `work` does through TypeORM joins it: a repository
 * reads and writes within it, and a transaction becomes a savepoint of it. If the code is already
 * in a transaction, that one is shared, with a savepoint.
 */
export function inSharedTransaction<Result>(
  dataSource: ScopedDataSource,
  work: () => Promise<Result>,
): Promise<Result> {
  const outer = dataSource.unitOfWork;
  const joinsAfterwards = outer?.joins ?? 'nothing';
  return (outer?.runner ?? dataSource).manager.transaction(async ({ queryRunner }) => {
    const unitOfWork = UnitOfWork.of(queryRunner!);
    unitOfWork.joins = 'everything';
    try {
      return await work();
    } finally {
      unitOfWork.joins = joinsAfterwards;
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
 * @param manager of a transaction; with any other manager: the transaction that the running code
 *   belongs to, if any. Without a transaction, the callback is called now.
 */
export function afterCommit(manager: EntityManager, callback: () => unknown): void {
  const { queryRunner, dataSource } = manager;
  const unitOfWork = queryRunner
    ? UnitOfWork.of(queryRunner)
    : (dataSource as ScopedDataSource).unitOfWork;
  if (unitOfWork === undefined) void run(callback);
  else unitOfWork.afterCommit(callback);
}
