import { EntityManager } from 'typeorm';
import { asTransaction, inTurn } from './transactions.js';

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
        ? super.transaction((manager) => asTransaction(() => first(manager)))
        : super.transaction(first, (manager) => asTransaction(() => second!(manager)));
    return this.queryRunner === undefined ? inTurn(begin) : begin();
  }
}
