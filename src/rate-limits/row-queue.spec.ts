import { RowQueue } from './row-queue.js';

describe(RowQueue.name, () => {
  let queue: RowQueue;
  beforeEach(() => (queue = new RowQueue()));
  const add = (...rows: number[]) => rows.forEach((row) => queue.add(row));

  it('gives rows in the order in which they came, each once', () => {
    add(7, 9_000, 7, 0, 3, 9_000);
    expect(queue.size).toBe(4);
    expect([queue.take(2), queue.take(0), queue.take(9), queue.take(9)]).toEqual([
      [7, 9_000],
      [],
      [0, 3],
      [],
    ]);
    expect(queue.size).toBe(0);
  });

  it('has room for any number', () => {
    const rows = Array.from({ length: 5_000 }, (_none, row) => (row * 7_919) % 5_000);
    add(...rows);
    expect([...queue.take(1_500), ...queue.take(9_999)]).toEqual(rows);
  });

  it('has those wait once more that were taken, behind all others', () => {
    add(1, 2, 3);
    expect(queue.take(1)).toEqual([1]);
    add(1, 2);
    expect(queue.take(9)).toEqual([2, 3, 1]);
  });

  it('leaves out who waits no more, once or for now', () => {
    add(1, 2, 3, 4);
    for (const row of [2, 3, 5, 5_000]) queue.delete(row);
    add(3);
    expect(queue.size).toBe(3);
    expect(queue.take(9).toSorted()).toEqual([1, 3, 4]);
    expect([queue.size, queue.take(9)]).toEqual([0, []]);
  });

  it('keeps no more than waits, however long it never is empty', () => {
    for (let round = 0; round < 1_000; round++) {
      for (let row = 0; row < 100; row++) queue.add((round * 100 + row) % 5_000);
      expect(queue.take(round === 0 ? 50 : 100)).toHaveLength(round === 0 ? 50 : 100);
    }
    expect(queue.size).toBe(50);
    expect(queue['rows'].length).toBe(1_024);
  });
});
