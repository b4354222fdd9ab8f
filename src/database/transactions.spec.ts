import { Logger } from '@nestjs/common';
import type { EntityManager, QueryRunner } from 'typeorm';
import { afterCommit, AfterCommitSubscriber } from './transactions.js';

describe(afterCommit.name, () => {
  let done: string[];
  let subscriber: AfterCommitSubscriber;
  let event: { queryRunner: QueryRunner };
  const managerOf = (queryRunner?: QueryRunner) =>
    ({ queryRunner, dataSource: { transactions: {} } }) as object as EntityManager;
  const note = (what: string) => afterCommit(managerOf(event.queryRunner), () => done.push(what));
  beforeEach(() => {
    done = [];
    event = { queryRunner: { data: {} } as QueryRunner };
    subscriber = new AfterCommitSubscriber();
  });

  it('waits for the outermost transaction', () => {
    subscriber.afterTransactionStart(event);
    note('outer');
    subscriber.afterTransactionStart(event);
    note('inner');
    subscriber.afterTransactionCommit(event);
    expect(done).toEqual([]);
    subscriber.afterTransactionCommit(event);
    expect(done).toEqual(['outer', 'inner']);
  });

  it('drops events of a rolled-back savepoint or transaction', () => {
    subscriber.afterTransactionStart(event);
    note('kept');
    subscriber.afterTransactionStart(event);
    note('undone');
    subscriber.afterTransactionRollback(event);
    subscriber.afterTransactionCommit(event);
    subscriber.afterTransactionStart(event);
    note('undone');
    subscriber.afterTransactionRollback(event);
    subscriber.afterTransactionStart(event);
    subscriber.afterTransactionCommit(event);
    expect(done).toEqual(['kept']);
  });

  it('logs a callback that fails, and runs the others', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const error = new Error('no');
    subscriber.afterTransactionStart(event);
    afterCommit(managerOf(event.queryRunner), () => Promise.reject(error));
    note('rest');
    subscriber.afterTransactionCommit(event);
    await Promise.resolve();
    expect(done).toEqual(['rest']);
    expect(logged.mock.calls).toEqual([[error]]);
    logged.mockRestore();
  });

  it('calls back now outside a transaction', () => {
    afterCommit(managerOf(), () => done.push('now'));
    expect(done).toEqual(['now']);
  });
});
