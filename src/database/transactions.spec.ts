import { AsyncLocalStorage } from 'node:async_hooks';
import type { QueryRunner } from 'typeorm';
import { assertOutsideTransaction, asTransaction, NestedTransactionError } from './transactions.js';

describe(asTransaction.name, () => {
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
});
