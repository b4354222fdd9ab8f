import { EntityManager } from 'typeorm';
import { asTransaction, inTurn, runnerToJoin } from './transactions.js';

type Isolation = Parameters<EntityManager['transaction']>[0];
type Run<Result> = (manager: EntityManager) => Promise<Result>;

/** TypeORM's, whose transactions know what is done within them. */
export class TransactionalManager extends EntityManager {
  override transaction<Result>(run: Run<Result>): Promise<Result>;
  override transaction<Result>(isolation: Isolation, run: Run<Result>): Promise<Result>;
  override transaction<Result>(
    first: Isolation | Run<Result>,
    second?: Run<Result>,
  ): Promise<Result> {
    const begin = (): Promise<Result> =>
      typeof first === 'function'
        ? super.transaction(knowing(first))
        : super.transaction(first, knowing(second!));
    const runner = this.queryRunner ?? runnerToJoin(this.dataSource);
    return runner === undefined ? begin() : inTurn(runner, begin);
  }
}

function knowing<Result>(run: Run<Result>): Run<Result> {
  return (manager) => asTransaction(manager.queryRunner!, () => run(manager));
}
