import type { DataSource, EntityManager } from 'typeorm';
import type { TransactionScope } from './transaction-scope.js';

/**
 * Runs `work` in one transaction, which everything joins that `work` does through TypeORM: a repository reads and
 * writes within it, and a transaction becomes a savepoint of it.
 */
export async function inSharedTransaction<Result>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<Result>,
): Promise<Result> {
  const { transactions } = dataSource as DataSource & { transactions: TransactionScope };
  const runner = dataSource.createQueryRunner();
  const release = runner.release.bind(runner);
  await runner.startTransaction();
  // A repository that joins releases the query runner after each of its statements.
  runner.release = () => Promise.resolve();
  try {
    const result = await transactions.run(runner, () => work(runner.manager), { isShared: true });
    await runner.commitTransaction();
    return result;
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    runner.release = release;
    await release();
  }
}
