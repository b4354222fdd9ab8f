import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { isHeld } from './outage.js';
import { HeldError } from './statement.js';
import { asTransaction } from './transactions.js';

/** Those of both engines: one that is shared is released by whoever shares it. */
type SharedRunner = QueryRunner & { isShared: boolean };

/**
 * Runs `work` in one transaction that everything joins which it does through TypeORM: a transaction of its own
 * becomes a savepoint of this one, a repository reads and writes within it.
 */
export async function inSharedTransaction<Result>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<Result>,
): Promise<Result> {
  const runner = dataSource.createQueryRunner() as SharedRunner;
  try {
    await runner.startTransaction();
    runner.isShared = true;
    try {
      return await asTransaction(
        runner,
        () => work(runner.manager),
        () => runner.commitTransaction(),
      );
    } catch (error) {
      // What it says is of less interest than why there is something to roll back.
      await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    }
  } finally {
    runner.isShared = false;
    await runner.release();
  }
}

/**
 * Rather than wait for a row that another transaction holds, `work` fails.
 * @throws {HeldError} which ends this transaction
 */
export async function impatiently<Result>(
  manager: EntityManager,
  work: () => Promise<Result>,
): Promise<Result> {
  // On SQLite this transaction is the only one that writes.
  if (manager.dataSource.options.type !== 'postgres') return work();
  await manager.query(`SET LOCAL lock_timeout = '50ms'`);
  try {
    const result = await work();
    await manager.query('SET LOCAL lock_timeout TO DEFAULT');
    return result;
  } catch (error) {
    throw isHeld(error) ? new HeldError(error) : error;
  }
}
