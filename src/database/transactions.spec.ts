import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { QueryRunner } from 'typeorm';
import {
  assertOutsideTransaction,
  asTransaction,
  NestedTransactionError,
  TransactionUndoneError,
} from './transactions.js';

describe(asTransaction.name, () => {
  afterEach(() => jest.restoreAllMocks());

  const runner = {} as QueryRunner;

  it('has the process followed for as long as any transaction is open, and no longer', async () => {
    const disable = jest.spyOn(AsyncLocalStorage.prototype, 'disable');
    let resolve!: () => void;
    const promise = new Promise<void>((settle) => (resolve = settle));
    const first = asTransaction(runner, async () => {
      await promise;
      expect(assertOutsideTransaction).toThrow(NestedTransactionError);
    });
    await asTransaction(runner, () => Promise.resolve());
    expect(disable).not.toHaveBeenCalled();
    resolve();
    await first;
    expect(disable).toHaveBeenCalledTimes(1);
    expect(assertOutsideTransaction).not.toThrow();
  });

  it('follows for a minute what a transaction that others joined has started, where it failed', async () => {
    jest.useFakeTimers();
    const disable = jest.spyOn(AsyncLocalStorage.prototype, 'disable');
    const late: (() => void)[] = [];
    const work = (): Promise<void> => {
      late.push(AsyncResource.bind(assertOutsideTransaction));
      return Promise.reject(new Error('changed its mind'));
    };
    const commit = (): Promise<void> => Promise.resolve();
    try {
      for (let count = 0; count < 2; count++) {
        await expect(asTransaction(runner, work, commit)).rejects.toThrow('changed its mind');
        jest.advanceTimersByTime(59_999);
        expect(late[count]).toThrow(TransactionUndoneError);
      }
      expect(late[0]).not.toThrow();
      expect(assertOutsideTransaction).not.toThrow();
      expect(disable).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1);
      expect(disable).toHaveBeenCalledTimes(1);
      expect(late[1]).not.toThrow();
    } finally {
      jest.useRealTimers();
    }
  });
});
