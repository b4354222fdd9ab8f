import { AsyncLocalStorage } from 'node:async_hooks';
import type { QueryRunner } from 'typeorm';

interface Scope {
  runner: QueryRunner;
  /** Everything that runs within it through TypeORM uses its query runner. */
  isShared: boolean;
  isOver: boolean;
}

/** Knows the transaction of TypeORM that the running code belongs to. */
export class TransactionScope {
  private readonly scopes = new AsyncLocalStorage<Scope>();
  private open = 0;

  /** Runs the work of a transaction, which is over when the promise settles. */
  async run<Result>(
    runner: QueryRunner,
    work: () => Promise<Result>,
    { isShared = false } = {},
  ): Promise<Result> {
    const scope: Scope = { runner, isShared, isOver: false };
    this.open++;
    try {
      return await this.scopes.run(scope, work);
    } finally {
      scope.isOver = true;
      // Before Node 24, every promise of the process is tracked while the storage is in use.
      if (--this.open === 0) this.scopes.disable();
    }
  }

  /** The query runner of the shared transaction that the running code belongs to. */
  get sharedRunner(): QueryRunner | undefined {
    return this.current?.isShared ? this.current.runner : undefined;
  }

  /** @throws {NestedTransactionError} within a transaction, for which another writer would wait forever */
  assertOutside(): void {
    if (this.current !== undefined) throw new NestedTransactionError();
  }

  private get current(): Scope | undefined {
    const scope = this.scopes.getStore();
    return scope?.isOver ? undefined : scope;
  }
}

export class NestedTransactionError extends Error {
  constructor() {
    super(
      'Nested transaction: use the EntityManager passed to the transaction callback instead of starting another write.',
    );
  }
}
