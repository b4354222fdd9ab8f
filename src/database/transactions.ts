import { AsyncLocalStorage } from 'node:async_hooks';
import type { QueryRunner } from 'typeorm';

/** Whoever holds a transaction open for longer holds up others. */
export const MAX_OPEN_MS = 3_000;

interface Transaction {
  isOpen: boolean;
  /** Of a transaction that others join. */
  runner: QueryRunner | undefined;
  /** The latest that has joined: they take turns, for their savepoints are on one connection. */
  latest: Promise<unknown>;
}

const current = new AsyncLocalStorage<Transaction>();
let open = 0;

/**
 * Runs the work of a transaction: until it ends, nothing that it starts may begin another one.
 * @param runner where what it starts joins it instead
 */
export async function asTransaction<Result>(
  work: () => Promise<Result>,
  runner?: QueryRunner,
): Promise<Result> {
  const transaction = { isOpen: true, runner, latest: Promise.resolve() };
  open++;
  try {
    return await current.run(transaction, work);
  } finally {
    transaction.isOpen = false;
    // Before Node 24, once one has run, every promise and tick of the process is followed for it.
    if (--open === 0) current.disable();
  }
}

/** That of the transaction to join, where there is one. */
export function runnerToJoin(): QueryRunner | undefined {
  const transaction = current.getStore();
  return transaction?.isOpen ? transaction.runner : undefined;
}

/** Runs a transaction: of those that join another one, one after the other. */
export function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const transaction = current.getStore();
  if (!transaction?.isOpen || transaction.runner === undefined) return work();
  const result = transaction.latest.then(work);
  transaction.latest = result.catch(() => undefined);
  return result;
}

/** @throws {NestedTransactionError} within a transaction, which the other one would wait for */
export function assertOutsideTransaction(): void {
  if (current.getStore()?.isOpen) throw new NestedTransactionError();
}

export class NestedTransactionError extends Error {
  constructor() {
    super(
      'A write of its own within a transaction would wait for that transaction: ' +
        'use the EntityManager that the transaction was given',
    );
  }
}

export class TransactionTimedOutError extends Error {
  constructor() {
    super(`The transaction was open for over ${MAX_OPEN_MS} ms and has been rolled back`);
  }
}

/** Whoever has left it open may never hear of it: for the log, which says of which request it was. */
export function tellOfTimeOut({ dataSource }: QueryRunner): void {
  const { message } = new TransactionTimedOutError();
  const cure = 'it held up others; within one await nothing slow, and release each query runner';
  dataSource.logger.log('warn', `${message}: ${cure}`);
}

/** A failed statement aborts its transaction on PostgreSQL, which answers a COMMIT by rolling back, as if all were well. */
export class TransactionAbortedError extends Error {
  constructor() {
    super(
      'The transaction has been rolled back, because a statement in it failed: where that may fail alone, ' +
        'put it into a transaction of its own within this one (manager.transaction())',
    );
  }
}
