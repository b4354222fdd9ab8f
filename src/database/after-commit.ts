import { Logger } from '@nestjs/common';
import type { EntityManager, QueryRunner } from 'typeorm';

/** What it returns is waited for by nobody. */
type Callback = () => unknown;

/** What is to be done once the transactions of a query runner are committed, with the savepoints in them. */
class Pending {
  private callbacks: Callback[] = [];
  /** How many there were when each transaction that is open began, the outermost first. */
  private readonly marks: number[] = [];

  add(callback: Callback): void {
    if (this.marks.length === 0) throw new Error('There is no transaction to wait for');
    this.callbacks.push(callback);
  }

  began(): void {
    this.marks.push(this.callbacks.length);
  }

  committed(): void {
    this.marks.pop();
    if (this.marks.length > 0) return;
    const { callbacks } = this;
    this.callbacks = [];
    for (const callback of callbacks) void carryOut(callback);
  }

  rolledBack(): void {
    this.callbacks.length = this.marks.pop() ?? 0;
  }
}

const pending = new WeakMap<QueryRunner, Pending>();

/** Told by the query runners of both engines. */
export function pendingOf(runner: QueryRunner): Pending {
  let found = pending.get(runner);
  if (found === undefined) {
    found = new Pending();
    pending.set(runner, found);
  }
  return found;
}

/** What is committed is no failure any more, whatever comes of this. */
async function carryOut(callback: Callback): Promise<void> {
  try {
    await callback();
  } catch (error) {
    new Logger(afterCommit.name).error(error);
  }
}

/**
 * Does something once the transaction of `manager` is committed, and not at all where it is rolled back. Nobody
 * waits for it; where it fails, that is a line of the log.
 */
export function afterCommit({ queryRunner }: EntityManager, callback: Callback): void {
  if (queryRunner === undefined) throw new Error('There is no transaction to wait for');
  pendingOf(queryRunner).add(callback);
}
