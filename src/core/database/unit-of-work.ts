import { Logger } from '@nestjs/common';
import {
  type AfterQueryEvent,
  type EntityManager,
  type EntitySubscriberInterface,
  EventSubscriber,
  type QueryRunner,
} from 'typeorm';

type Callback = () => unknown;
type TransactionEvent = Required<Pick<EntityManager, 'queryRunner'>>;

const ABORTED =
  'A statement of this transaction failed, so nothing of it was committed: run statements ' +
  'that may fail in a transaction within it.';

/** The transaction of a query runner, and the callbacks after its commit. */
export class UnitOfWork {
  /** A list per open transaction: the outermost one first, then its savepoints. */
  private readonly callbacks: Callback[][] = [];

  private constructor(readonly runner: QueryRunner) {}

  static of(runner: QueryRunner): UnitOfWork {
    return (runner.data['unitOfWork'] ??= new UnitOfWork(runner)) as UnitOfWork;
  }

  /** How many transactions and savepoints are open. */
  get depth(): number {
    return this.callbacks.length;
  }

  get isOpen(): boolean {
    return this.runner.isTransactionActive && !this.runner.isReleased;
  }

  begin(): void {
    this.callbacks.push([]);
  }

  commit(): void {
    const callbacks = this.callbacks.pop() ?? [];
    for (const callback of callbacks) this.afterCommit(callback);
  }

  rollback(): void {
    this.callbacks.pop();
  }

  /** Calls `callback` after the outermost commit; now if no transaction is open. */
  afterCommit(callback: Callback): void {
    const pending = this.callbacks.at(-1);
    if (pending === undefined) void run(callback);
    else pending.push(callback);
  }
}

/** Runs a callback that nothing waits for. */
export async function run(callback: Callback): Promise<void> {
  try {
    await callback();
  } catch (error) {
    new Logger('afterCommit').error(error);
  }
}

/** Follows each transaction and savepoint of TypeORM. */
@EventSubscriber()
export class UnitOfWorkSubscriber implements EntitySubscriberInterface {
  afterQuery({ query, rawResults }: AfterQueryEvent): void {
    const { command } = (rawResults ?? {}) as { command?: string };
    // PostgreSQL has rolled back because a statement failed, and reports success.
    if (query === 'COMMIT' && command === 'ROLLBACK') throw new Error(ABORTED);
  }

  afterTransactionStart({ queryRunner }: TransactionEvent): void {
    UnitOfWork.of(queryRunner).begin();
  }

  afterTransactionCommit({ queryRunner }: TransactionEvent): void {
    UnitOfWork.of(queryRunner).commit();
  }

  afterTransactionRollback({ queryRunner }: TransactionEvent): void {
    UnitOfWork.of(queryRunner).rollback();
  }
}
