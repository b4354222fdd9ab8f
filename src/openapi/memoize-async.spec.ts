import { memoizeAsync } from './memoize-async.js';

describe(memoizeAsync.name, () => {
  it('loads once for simultaneous and later callers', async () => {
    const load = jest.fn(() => Promise.resolve('page'));
    const get = memoizeAsync(load);
    expect(await Promise.all([get(), get()])).toEqual(['page', 'page']);
    expect(await get()).toBe('page');
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('loads again after a failure', async () => {
    const load = jest.fn().mockRejectedValueOnce(new Error('EMFILE')).mockResolvedValue('page');
    const get = memoizeAsync(load);
    for (const { status } of await Promise.allSettled([get(), get()])) {
      expect(status).toBe('rejected');
    }
    expect(await get()).toBe('page');
  });
});
