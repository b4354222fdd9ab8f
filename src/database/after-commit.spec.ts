import { Logger } from '@nestjs/common';
import type { EntityManager, QueryRunner } from 'typeorm';
import { afterCommit, pendingOf } from './after-commit.js';

describe(afterCommit.name, () => {
  const done: string[] = [];
  let manager: EntityManager;
  const pending = () => pendingOf(manager.queryRunner!);
  const note = (what: string) => afterCommit(manager, () => done.push(what));
  beforeEach(() => {
    done.length = 0;
    manager = { queryRunner: {} as QueryRunner } as EntityManager;
  });

  it('waits for the outermost transaction', () => {
    pending().began();
    note('outer');
    pending().began();
    note('inner');
    pending().committed();
    expect(done).toEqual([]);
    pending().committed();
    expect(done).toEqual(['outer', 'inner']);
  });

  it('does nothing of what is rolled back', () => {
    pending().began();
    note('kept');
    pending().began();
    note('undone');
    pending().rolledBack();
    pending().committed();
    expect(done).toEqual(['kept']);
    pending().began();
    note('undone');
    pending().rolledBack();
    pending().began();
    pending().committed();
    expect(done).toEqual(['kept']);
  });

  it('says in the log what fails, does the rest, and leaves the transaction committed', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const errors = ['at once', 'later'].map((when) => new Error(when));
    pending().began();
    afterCommit(manager, () => {
      throw errors[0]!;
    });
    afterCommit(manager, () => Promise.reject(errors[1]!));
    note('rest');
    pending().committed();
    expect(done).toEqual(['rest']);
    await Promise.resolve();
    expect(logged.mock.calls).toEqual(errors.map((error) => [error]));
    logged.mockRestore();
  });

  it('is refused where there is no transaction', () => {
    expect(() => note('x')).toThrow('no transaction');
    expect(() => afterCommit({} as EntityManager, () => undefined)).toThrow('no transaction');
  });
});
