import { AsyncLocalStorage } from 'node:async_hooks';
import { DataSource, EntityManager, type QueryRunner } from 'typeorm';
import { databaseError } from './database-error.js';
import { requestContext } from '../telemetry/request-context.js';
import { waitAtMost } from '../time/timeout.js';
import { run, UnitOfWork } from './unit-of-work.js';

type Work<Result> = (manager: EntityManager) => Promise<Result>;
type Isolation = Parameters<EntityManager['transaction']>[0];

const STRICTER: readonly unknown[] = ['REPEATABLE READ', 'SERIALIZABLE'];

const BROKEN =
  'The connection broke in a transaction, or PostgreSQL ended it after 3 s without a statement';

const NOT_ENDED =
  'A transaction that was begun with a query runner was not ended: use dataSource.transaction().';

const NESTED =
  'Nested transaction: use the EntityManager passed to the transaction callback ' +
  'instead of starting another write.';

const CANNOT_END =
  'The callback of a transaction cannot commit it or roll it back: return, or throw.';

/** More than a transaction may be idle, on both engines. */
const MAX_IDLE_MS = 4_000;

const ENDED = 'The transaction has ended: await everything that is started within a transaction.';

/**
 * The code of the callback of a transaction, or of a savepoint. It belongs to the transaction, but
 * only within the same request: a request that this code injects begins outside of it.
 */
class TransactionScope {
  /**
   * Whether repositories and transactions of this code join the transaction, beside table gateways.
   */
  joinsEverything: boolean;
  readonly isolation: unknown;
  /** How many transactions and savepoints are open where the code begins. */
  readonly depth: number;
  private isClosed = false;
  private readonly request = requestContext.getStore();
  /** Settles when the savepoints that this code has begun have ended. */
  private savepoints: Promise<unknown> | undefined;

  constructor(
    readonly unitOfWork: UnitOfWork,
    outer: TransactionScope | undefined,
    isolation: unknown,
  ) {
    const parent = outer?.unitOfWork === unitOfWork ? outer : undefined;
    this.joinsEverything = parent?.joinsEverything ?? false;
    this.isolation = parent?.isolation ?? isolation;
    this.depth = unitOfWork.depth;
  }

  get isOfThisRequest(): boolean {
    return this.request === requestContext.getStore();
  }

  /** @throws {Error} if the callback or its transaction has ended */
  assertOpen(): void {
    if (this.isClosed || !this.unitOfWork.isOpen) throw new Error(ENDED);
  }

  /** Savepoints side by side would be nested: each begins when the one before it has ended. */
  next<Result>(savepoint: () => Promise<Result>): Promise<Result> {
    const result = Promise.resolve(this.savepoints).then(() => {
      this.assertOpen();
      return savepoint();
    });
    this.savepoints = result.catch(() => undefined);
    return result;
  }

  /**
   * Ends the scope when its last savepoint has ended. One that never ends was rolled back by then,
   * because it was idle.
   */
  async close(): Promise<void> {
    let latest: Promise<unknown> | undefined;
    while (latest !== this.savepoints) {
      latest = this.savepoints!;
      await waitAtMost(MAX_IDLE_MS, latest);
    }
    this.isClosed = true;
  }
}

/** A data source that knows the transaction that the running code belongs to. */
export abstract class ScopedDataSource extends DataSource {
  private readonly scopes = new AsyncLocalStorage<TransactionScope>();

  /**
   * The unit of work that the running code belongs to.
   * @throws {Error} if it has ended: what the code writes now would not belong to it
   */
  get unitOfWork(): UnitOfWork | undefined {
    const { scope } = this;
    scope?.assertOpen();
    return scope?.unitOfWork;
  }

  /** @throws {Error} within a transaction, for which another writer would wait forever */
  assertOutside(): void {
    if (this.scope?.unitOfWork.isOpen) throw new Error(NESTED);
  }

  /** Whether the running code belongs to the transaction of `runner`, also if it has ended. */
  isWithin(runner: QueryRunner): boolean {
    return this.scope?.unitOfWork.runner === runner;
  }

  /** @throws {Error} if the running code is a callback of `runner` whose transaction has ended */
  assertMayUse(runner: QueryRunner): void {
    if (this.isWithin(runner)) this.scope!.assertOpen();
  }

  /**
   * @throws {Error} if the running code belongs to the transaction that `runner` is about to end.
   *   TypeORM tries this too if a savepoint cannot begin: what follows would commit by itself.
   */
  assertMayEnd(runner: QueryRunner): void {
    if (!this.isWithin(runner)) return;
    const { unitOfWork, depth } = this.scope!;
    if (unitOfWork.depth <= depth) throw new Error(CANNOT_END);
  }

  /** Lets everything that the running code does through TypeORM join its transaction. */
  share(): void {
    this.scope!.joinsEverything = true;
  }

  /** Runs `work`, which belongs to the transaction of `manager`. */
  async within<Result>(
    manager: EntityManager,
    isolation: unknown,
    work: Work<Result>,
  ): Promise<Result> {
    const unitOfWork = UnitOfWork.of(manager.queryRunner!);
    const scope = new TransactionScope(unitOfWork, this.scope, isolation);
    const result = await this.scopes.run(scope, () => work(manager)).finally(() => scope.close());
    if (unitOfWork.depth > scope.depth) throw new Error(NOT_ENDED);
    return result;
  }

  /**
   * Begins a transaction on `runner`, or a savepoint of the transaction of the running code.
   * @throws {Error} for a savepoint that needs another isolation level than its transaction has
   */
  async begin<Result>(
    runner: QueryRunner | undefined,
    isolation: unknown,
    transaction: () => Promise<Result>,
  ): Promise<Result> {
    const { scope, options } = this;
    const isSavepoint = runner === undefined ? scope?.joinsEverything : this.isWithin(runner);
    if (!isSavepoint) return transaction();
    // A transaction of SQLite is always serializable.
    const isOther = isolation !== scope!.isolation && STRICTER.includes(isolation);
    if (isOther && options.type === 'postgres') {
      throw new Error(`A transaction within another one cannot be ${String(isolation)}`);
    }
    return scope!.next(transaction);
  }

  override createQueryRunner(): QueryRunner {
    if (this.scope?.joinsEverything) return this.unitOfWork!.runner;
    const runner = this.newQueryRunner();
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new ScopedManager(this, runner);
  }

  protected abstract newQueryRunner(): QueryRunner;

  private get scope(): TransactionScope | undefined {
    const scope = this.scopes.getStore();
    return scope?.isOfThisRequest ? scope : undefined;
  }
}

/** Runs the callback of a transaction in its unit of work. */
class ScopedManager extends EntityManager {
  override transaction<Result>(first: unknown, second = first as Work<Result>): Promise<Result> {
    const isolation = (first === second ? undefined : first) as Isolation;
    const dataSource = this.dataSource as ScopedDataSource;
    const work = async (manager: EntityManager): Promise<Result> => {
      let cause: unknown;
      try {
        const result = await dataSource.within(manager, isolation, second);
        if (!manager.queryRunner!.isReleased) return result;
      } catch (error) {
        if (!manager.queryRunner!.isReleased) throw error;
        cause = error;
      }
      // TypeORM releases the query runner of a broken connection, and then rejects its use.
      throw databaseError('08006', BROKEN, cause);
    };
    const transaction = () => super.transaction(isolation, work);
    return dataSource.begin(this.queryRunner, isolation, transaction);
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
  const { manager } = dataSource.unitOfWork?.runner ?? dataSource;
  return manager.transaction(() => {
    dataSource.share();
    return work();
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
