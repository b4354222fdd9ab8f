import { setImmediate as nextTurn } from 'node:timers/promises';
import { RowQueue, SharedNames } from './shared-names.js';

class Shelf {
  readonly numbers = new Set<number>();

  markHeld(marks: Uint8Array): void {
    for (const number of this.numbers) marks[number] = 1;
  }
}

describe(SharedNames.name, () => {
  let names: SharedNames;
  let shelf: Shelf;
  beforeEach(() => {
    names = new SharedNames();
    names.addHolder((shelf = new Shelf()));
  });

  it('gives each name one number, by which it is found again', () => {
    expect(['zoo', 'ark', 'zoo'].map((name) => names.add(name))).toEqual([0, 1, 0]);
    expect(['ark', 'owl'].map((name) => names.find(name))).toEqual([1, undefined]);
    expect([0, 1].map((number) => names.nameOf(number))).toEqual(['zoo', 'ark']);
  });

  it('keeps what somebody holds, and gives the numbers of all others away again', async () => {
    const other = new Shelf();
    names.addHolder(other);
    const held = new Map<string, number>();
    for (let count = 0; count < 200_000; count++) {
      const number = names.add(`key_${count}`);
      if (count % 1_000 === 0) {
        (count % 2_000 === 0 ? shelf : other).numbers.add(number);
        held.set(`key_${count}`, number);
      }
      if (count % 500 === 0) await nextTurn();
    }
    expect(names.size).toBeLessThan(5_000);
    for (const [name, number] of held) {
      expect([names.find(name), names.nameOf(number)]).toEqual([number, name]);
    }
    expect(names.find('key_1')).toBeUndefined();
  });

  it('frees nothing within a turn: what was just added need not be held yet', () => {
    const added = Array.from({ length: 20_000 }, (_none, count) => names.add(`key_${count}`));
    expect(added.map((number) => names.nameOf(number))).toEqual(
      added.map((_none, count) => `key_${count}`),
    );
  });

  it('looks no more often for a crowd that is held', async () => {
    const asked = jest.spyOn(shelf, 'markHeld');
    for (let count = 0; count < 100_000; count++) {
      shelf.numbers.add(names.add(`key_${count}`));
      if (count % 500 === 0) await nextTurn();
    }
    await nextTurn();
    expect(asked.mock.calls.length).toBeLessThan(7);
    expect(names.size).toBe(100_000);
  });
});

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
