import { setImmediate } from 'node:timers/promises';
import { batchPerTick } from './batch-per-tick.js';

describe(batchPerTick.name, () => {
  it('handles the items of one tick together, in their order', async () => {
    const batches: number[][] = [];
    const add = batchPerTick<number>((items) => batches.push(items));
    add(1);
    add(2);
    expect(batches).toEqual([]);
    await setImmediate();
    expect(batches).toEqual([[1, 2]]);
  });

  it('leaves items added by the handler to the next tick', async () => {
    const batches: number[][] = [];
    const add = batchPerTick<number>((items) => {
      batches.push(items);
      if (batches.length === 1) add(2);
    });
    add(1);
    await setImmediate();
    expect(batches).toEqual([[1]]);
    await setImmediate();
    expect(batches).toEqual([[1], [2]]);
  });

  it('handles at most the maximum per tick, in the order of arrival', async () => {
    const batches: number[][] = [];
    const add = batchPerTick<number>((items) => batches.push(items), 2);
    for (const item of [1, 2, 3]) add(item);
    await setImmediate();
    expect(batches).toEqual([[1, 2]]);
    add(4);
    add(5);
    await setImmediate();
    await setImmediate();
    expect(batches).toEqual([[1, 2], [3, 4], [5]]);
  });
});
