import { Logger } from '@nestjs/common';
import {
  type EntityManager,
  type EntitySubscriberInterface,
  EventSubscriber,
  type QueryRunner,
} from 'typeorm';

type Callback = () => unknown;
interface TransactionEvent {
  queryRunner: QueryRunner;
}

/**
 * Runs the callbacks of `afterCommit()`. They wait in the query runner, in one list per open transaction: the outermost
 * one first, then its savepoints.
 */
@EventSubscriber()
export class AfterCommitSubscriber implements EntitySubscriberInterface {
  afterTransactionStart({ queryRunner }: TransactionEvent): void {
    pendingOf(queryRunner).push([]);
  }

  afterTransactionCommit({ queryRunner }: TransactionEvent): void {
    const pending = pendingOf(queryRunner);
    const callbacks = pending.pop() ?? [];
    const outer = pending.at(-1);
    if (outer !== undefined) outer.push(...callbacks);
    else for (const callback of callbacks) void run(callback);
  }

  afterTransactionRollback({ queryRunner }: TransactionEvent): void {
    pendingOf(queryRunner).pop();
  }
}

/**
 * Calls `callback` after the transaction of `manager` is committed, and never if it is rolled back. Nothing waits for
 * the callback; if it fails, the error is logged.
 * @throws {Error} outside a transaction
 */
export function afterCommit({ queryRunner }: EntityManager, callback: Callback): void {
  const callbacks = queryRunner && pendingOf(queryRunner).at(-1);
  if (!callbacks) throw new Error('afterCommit() must be called within a transaction.');
  callbacks.push(callback);
}

function pendingOf({ data }: QueryRunner): Callback[][] {
  return (data['afterCommit'] ??= []) as Callback[][];
}

async function run(callback: Callback): Promise<void> {
  try {
    await callback();
  } catch (error) {
    new Logger(afterCommit.name).error(error);
  }
}
