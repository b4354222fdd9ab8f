import { inBatches } from './in-batches.js';

describe(inBatches.name, () => {
  let nowMs: number;
  beforeEach(() => {
    nowMs = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  });
  afterEach(() => jest.restoreAllMocks());

  /** So many rows, each of which takes so long; the sizes of the batches asked for. */
  function table(rows: number, msPerRow: number) {
    const asked: number[] = [];
    const remove = (limit: number): Promise<number> => {
      asked.push(limit);
      const removed = Math.min(limit, rows);
      rows -= removed;
      nowMs += removed * msPerRow;
      return Promise.resolve(removed);
    };
    return { asked, remove, left: () => rows };
  }

  it('continues until nothing is left, and returns the total', async () => {
    const { remove, left } = table(12_345, 0);
    expect(await inBatches(remove)).toBe(12_345);
    expect(left()).toBe(0);
  });

  it('runs once if there is nothing', async () => {
    const { asked, remove } = table(0, 1);
    expect(await inBatches(remove)).toBe(0);
    expect(asked).toHaveLength(1);
  });

  it('takes fewer rows at once where they take long, yet never none', async () => {
    const { asked, remove } = table(2_000, 0.05);
    await inBatches(remove);
    expect(asked.slice(1).every((rows) => rows * 0.05 <= 20)).toBe(true);
    const slow = table(2_000, 10);
    await inBatches(slow.remove);
    expect(Math.min(...slow.asked)).toBe(100);
  });

  it('takes more where they take little, yet never without bound', async () => {
    const { asked, remove } = table(200_000, 0);
    await inBatches(remove);
    expect(asked[1]).toBeGreaterThan(asked[0]!);
    expect(Math.max(...asked)).toBe(10_000);
  });

  it('leaves others the turn between two batches', async () => {
    const { asked, remove } = table(1_500, 0);
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    await inBatches(remove);
    clearInterval(others);
    expect(turns).toBeGreaterThanOrEqual(asked.length - 1);
  });

  it('stops at the signal, and fails with its batch', async () => {
    const { asked, remove } = table(10_000, 0);
    const stop = new AbortController();
    await inBatches(async (rows) => {
      stop.abort();
      return remove(rows);
    }, stop.signal);
    expect(asked).toHaveLength(1);
    await expect(inBatches(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  });
});
