import { Logger } from '@nestjs/common';
import type {
  EntityManager,
  EntitySubscriberInterface,
  QueryRunner,
  TransactionCommitEvent,
  TransactionRollbackEvent,
  TransactionStartEvent,
} from 'typeorm';

interface Pending {
  callbacks: (() => unknown)[];
  /** Number of callbacks when each open transaction began, the outermost one first; the others are savepoints. */
  marks: number[];
}

/** Runs the callbacks of `afterCommit()`; the data sources of both engines have one. */
export class AfterCommitSubscriber implements EntitySubscriberInterface {
  private readonly pending = new WeakMap<QueryRunner, Pending>();

  add(runner: QueryRunner | undefined, callback: () => unknown): void {
    const pending = runner && this.pending.get(runner);
    if (!pending || pending.marks.length === 0) {
      throw new Error('afterCommit() must be called within a transaction.');
    }
    pending.callbacks.push(callback);
  }

  afterTransactionStart({ queryRunner }: Pick<TransactionStartEvent, 'queryRunner'>): void {
    const pending = this.pending.get(queryRunner) ?? { callbacks: [], marks: [] };
    pending.marks.push(pending.callbacks.length);
    this.pending.set(queryRunner, pending);
  }

  afterTransactionCommit({ queryRunner }: Pick<TransactionCommitEvent, 'queryRunner'>): void {
    const pending = this.pending.get(queryRunner);
    pending?.marks.pop();
    if (pending === undefined || pending.marks.length > 0) return;
    this.pending.delete(queryRunner);
    for (const callback of pending.callbacks) void run(callback);
  }

  afterTransactionRollback({ queryRunner }: Pick<TransactionRollbackEvent, 'queryRunner'>): void {
    const pending = this.pending.get(queryRunner);
    if (pending !== undefined) pending.callbacks.length = pending.marks.pop() ?? 0;
  }
}

async function run(callback: () => unknown): Promise<void> {
  try {
    await callback();
  } catch (error) {
    new Logger(afterCommit.name).error(error);
  }
}

/**
 * Calls `callback` after the transaction of `manager` is committed, and never if it is rolled back. Nothing waits for
 * the callback; if it fails, the error is logged.
 * @throws {Error} outside a transaction
 */
export function afterCommit(manager: EntityManager, callback: () => unknown): void {
  for (const subscriber of manager.dataSource.subscribers) {
    if (subscriber instanceof AfterCommitSubscriber) subscriber.add(manager.queryRunner, callback);
  }
}
