import type { ObjectLiteral, Repository } from 'typeorm';
import { deleteInBatches, forEachBatch } from './in-batches.js';

/** A table of so many rows, and how many were deleted by each statement. */
function table(rows: number) {
  const deleted: number[] = [];
  let limit = 0;
  const execute = jest.fn(() => {
    const affected = Math.min(limit, rows);
    rows -= affected;
    deleted.push(affected);
    return Promise.resolve({ affected });
  });
  const where = (condition: string): object => {
    limit = Number(/LIMIT (\d+)/.exec(condition)![1]);
    return query;
  };
  const query = { delete: () => query, where, execute };
  const repository = { metadata: { primaryColumns: [] }, createQueryBuilder: () => query };
  const remove = (stop = new AbortController().signal) =>
    deleteInBatches(repository as object as Repository<ObjectLiteral>, 'old', {}, stop);
  return { deleted, execute, remove };
}

describe(deleteInBatches.name, () => {
  it('continues until nothing is left', async () => {
    const { deleted, remove } = table(2_345);
    await remove();
    expect(deleted.length).toBeGreaterThan(1);
    expect(deleted.reduce((sum, each) => sum + each)).toBe(2_345);
  });

  it('leaves others the turn between two batches', async () => {
    const { deleted, remove } = table(1_500);
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    await remove();
    clearInterval(others);
    expect(turns).toBeGreaterThanOrEqual(deleted.length - 1);
  });

  it('stops at the signal, and fails with its batch', async () => {
    const { deleted, execute, remove } = table(10_000);
    const stop = new AbortController();
    const stopped = remove(stop.signal);
    stop.abort();
    await stopped;
    expect(deleted).toHaveLength(1);
    execute.mockRejectedValueOnce(new Error('away'));
    await expect(remove()).rejects.toThrow('away');
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
