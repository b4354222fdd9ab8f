import { forEachBatch, inBatches } from './in-batches.js';

/** A table of so many rows, and the sizes of the batches that were asked for. */
function table(rows: number) {
  const asked: number[] = [];
  const remove = (limit: number): Promise<number> => {
    asked.push(limit);
    const removed = Math.min(limit, rows);
    rows -= removed;
    return Promise.resolve(removed);
  };
  return { asked, remove, left: () => rows };
}

describe(inBatches.name, () => {
  it('continues until nothing is left, and returns the total', async () => {
    const { asked, remove, left } = table(12_345);
    expect(await inBatches(remove)).toBe(12_345);
    expect(left()).toBe(0);
    expect(Math.max(...asked)).toBe(1_000);
  });

  it('runs once if there is nothing', async () => {
    const { asked, remove } = table(0);
    expect(await inBatches(remove)).toBe(0);
    expect(asked).toHaveLength(1);
  });

  it('leaves others the turn between two batches', async () => {
    const { asked, remove } = table(1_500);
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    await inBatches(remove);
    clearInterval(others);
    expect(turns).toBeGreaterThanOrEqual(asked.length - 1);
  });

  it('stops at the signal, and fails with its batch', async () => {
    const { asked, remove } = table(10_000);
    const stop = new AbortController();
    await inBatches(async (rows) => {
      stop.abort();
      return remove(rows);
    }, stop.signal);
    expect(asked).toHaveLength(1);
    await expect(inBatches(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  });
});

describe(forEachBatch.name, () => {
  it('handles each item once, in order', async () => {
    const items = Array.from({ length: 2_500 }, (_, index) => index);
    const handled: number[] = [];
    await forEachBatch(items, (batch) => Promise.resolve(void handled.push(...batch)));
    expect(handled).toEqual(items);
  });
});
