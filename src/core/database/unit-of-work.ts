import { Logger } from '@nestjs/common';
import {
  type EntityManager,
  type EntitySubscriberInterface,
  EventSubscriber,
  type QueryRunner,
} from 'typeorm';
import { type RequestContext, requestContext } from '../telemetry/request-context.js';

type Callback = () => unknown;
type TransactionEvent = Required<Pick<EntityManager, 'queryRunner'>>;

const NESTED =
  'Nested transaction: use the EntityManager passed to the transaction callback ' +
  'instead of starting another write.';

const ENDED = 'The transaction has ended: await everything that is started within a transaction.';

/**
 * The transaction of a query runner, what joins it, and the callbacks after its commit.
 *
 * The code of a transaction's callback belongs to it, but only within the same request: a request
 * that this code injects begins outside the transaction.
 */
export class UnitOfWork {
  /**
   * What joins the transaction without its EntityManager: table gateways alone; repositories and
   * transactions too; or nothing, because the sharing has ended.
   */
  joins: 'gateways' | 'everything' | 'nothing' = 'gateways';
  private request: RequestContext | undefined;
  /** A list per open transaction: the outermost one first, then its savepoints. */
  private readonly callbacks: Callback[][] = [];

  private constructor(readonly runner: QueryRunner) {}

  static of(runner: QueryRunner): UnitOfWork {
    return (runner.data['unitOfWork'] ??= new UnitOfWork(runner)) as UnitOfWork;
  }

  /** Whether the running code belongs to the request that started the transaction. */
  get isOfThisRequest(): boolean {
    return this.request === requestContext.getStore();
  }

  /** @throws {Error} if the transaction has ended: what the code writes would not belong to it */
  assertOpen(): void {
    if (!this.isOpen || this.joins === 'nothing') throw new Error(ENDED);
  }

  /** @throws {Error} while the transaction is open: another writer would wait for it forever */
  assertEnded(): void {
    if (this.isOpen) throw new Error(NESTED);
  }

  begin(): void {
    if (this.callbacks.push([]) === 1) this.request = requestContext.getStore();
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

  private get isOpen(): boolean {
    return this.runner.isTransactionActive && !this.runner.isReleased;
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
