import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, QueryRunner } from 'typeorm';

/** Whoever holds a transaction open for longer holds up others. */
export const MAX_OPEN_MS = 3_000;
/** What one that others joined has started may come late; whoever comes later than that is on his own. */
const LATE_MS = 60_000;

/** Where transactions that share a connection wait for each other. */
interface Line {
  isOver: boolean;
  /** The latest that has begun in it, or is to begin. */
  latest: Promise<unknown>;
}

interface Transaction extends Line {
  readonly runner: QueryRunner;
  /** Whether others join it. */
  readonly isShared: boolean;
  /** That in which it is a savepoint. */
  readonly around: Transaction | undefined;
  /** When it was rolled back, if others joined it. */
  undoneAtMs: number | undefined;
}

const current = new AsyncLocalStorage<Transaction>();
let open = 0;
let lateness: NodeJS.Timeout | undefined;

/**
 * Runs the work of a transaction: until it ends, nothing that it starts may begin another one.
 * @param commit of a transaction that others join
 */
export async function asTransaction<Result>(
  runner: QueryRunner,
  work: () => Promise<Result>,
  commit?: () => Promise<void>,
): Promise<Result> {
  const transaction = begun(runner, commit !== undefined);
  try {
    const result = await within(transaction, work);
    await commit?.();
    return result;
  } catch (error) {
    if (transaction.isShared) undo(transaction);
    throw error;
  } finally {
    leave();
  }
}

/**
 * As `asTransaction`, for what follows in the caller's context. It must have that to itself: what shares it, as whatever
 * the same turn calls next, would be taken for a part of the transaction.
 * @returns ends it
 */
export function enterTransaction(runner: QueryRunner): () => void {
  const transaction = begun(runner, false);
  current.enterWith(transaction);
  return () => {
    transaction.isOver = true;
    leave();
  };
}

function begun(runner: QueryRunner, isShared: boolean): Transaction {
  const around = enclosing();
  open++;
  return {
    runner,
    isShared,
    around,
    isOver: false,
    latest: Promise.resolve(),
    undoneAtMs: undefined,
  };
}

/** Before Node 24, while this is in use, every promise and tick of the process is followed for it. */
function leave(): void {
  if (--open === 0) current.disable();
}

/** Follows what it has started for a while: that has to be told from what stands for itself. */
function undo(transaction: Transaction): void {
  transaction.undoneAtMs = performance.now();
  if (lateness === undefined) open++;
  clearTimeout(lateness);
  lateness = setTimeout(() => {
    lateness = undefined;
    leave();
  }, LATE_MS).unref();
}

/** What has begun within it ends before it, whoever waits for that; what has not is refused. */
async function within<Result>(
  transaction: Transaction,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await current.run(transaction, work);
  } finally {
    transaction.isOver = true;
    await transaction.latest;
  }
}

/** The innermost that is open; undefined where none is. @throws {TransactionUndoneError} */
function enclosing(): Transaction | undefined {
  let transaction = current.getStore();
  while (transaction?.isOver) {
    const { undoneAtMs } = transaction;
    if (undoneAtMs !== undefined && performance.now() - undoneAtMs < LATE_MS) {
      throw new TransactionUndoneError();
    }
    transaction = transaction.around;
  }
  return transaction;
}

/**
 * That of the transaction to join, where there is one.
 * @throws {TransactionUndoneError} where that has been rolled back
 */
export function runnerToJoin(dataSource: DataSource): QueryRunner | undefined {
  const transaction = enclosing();
  if (!transaction?.isShared) return undefined;
  return transaction.runner.dataSource === dataSource ? transaction.runner : undefined;
}

const outermost = new WeakMap<QueryRunner, Line>();

/** Runs a transaction on a connection: of those that are within the same one, one after the other. */
export function inTurn<Result>(runner: QueryRunner, work: () => Promise<Result>): Promise<Result> {
  const line = lineOf(runner);
  const result = line.latest.then(() => {
    if (line.isOver) throw new TransactionOverError();
    return work();
  });
  line.latest = result.catch(() => undefined);
  return result;
}

function lineOf(runner: QueryRunner): Line {
  const transaction = enclosing();
  if (transaction?.runner === runner) return transaction;
  let line = outermost.get(runner);
  if (line === undefined) {
    line = { isOver: false, latest: Promise.resolve() };
    outermost.set(runner, line);
  }
  return line;
}

/**
 * @throws {NestedTransactionError} within a transaction, which the other one would wait for
 * @throws {TransactionUndoneError} where it comes late
 */
export function assertOutsideTransaction(): void {
  if (enclosing() !== undefined) throw new NestedTransactionError();
}

export class NestedTransactionError extends Error {
  constructor() {
    super(
      'A write of its own within a transaction would wait for that transaction: ' +
        'use the EntityManager that the transaction was given',
    );
  }
}

export class TransactionOverError extends Error {
  constructor() {
    super('The transaction of this statement is over: await every statement before it ends');
  }
}

export class TransactionUndoneError extends Error {
  constructor() {
    super(
      'The transaction that this belongs to has been rolled back, so nothing more is done of it: ' +
        'await everything that is part of it before it ends',
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
