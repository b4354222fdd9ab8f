import { setImmediate as nextTurn } from 'node:timers/promises';
import { NameNumbers, Names, RowQueue, SharedNames } from './names.js';

describe(NameNumbers.name, () => {
  let numbers: NameNumbers;
  beforeEach(() => (numbers = new NameNumbers()));

  it('numbers subjects in the order in which they come, and finds them again', () => {
    const added = ['zoo', 'ark', 'zoo', 'owl'].map((subject) => numbers.add(subject));
    expect(added).toEqual([0, 1, 0, 2]);
    expect(['owl', 'zoo', 'ark', 'zo', 'zoos', ''].map((each) => numbers.find(each))).toEqual([
      2,
      0,
      1,
      undefined,
      undefined,
      undefined,
    ]);
    expect([0, 1, 2].map((number) => numbers.nameOf(number))).toEqual(['zoo', 'ark', 'owl']);
    expect([numbers.size, numbers.length]).toEqual([3, 3]);
  });

  it('tells apart names of any letters and any length', () => {
    const letters = ['\0', '\x01', '\x7f', '\x80', 'ÿ', '\u07ff', '\u0800', '\uffff', '\ud83d'];
    const names = [
      ...letters,
      ...letters.map((letter) => `zoo${letter}`),
      ...letters.map((letter) => `${letter}zoo`),
      '\0\0',
      '🐕',
      'ip:2001:db8::',
      'x'.repeat(70_000),
      'é'.repeat(70_000),
    ];
    const added = names.map((name) => numbers.add(name));
    expect(new Set(added).size).toBe(names.length);
    for (const [index, name] of names.entries()) {
      expect(numbers.find(name)).toBe(added[index]);
      expect(numbers.nameOf(added[index]!)).toBe(name);
    }
  });

  it('gives away again what was freed, to names that are shorter or longer', () => {
    for (const subject of ['zoo', 'ark', 'owl']) numbers.add(subject);
    numbers.remove(1);
    expect([numbers.find('ark'), numbers.nameOf(1), numbers.size]).toEqual([undefined, '', 2]);
    expect(numbers.add('a much longer name')).toBe(1);
    expect(numbers.nameOf(1)).toBe('a much longer name');
    numbers.remove(1);
    expect(numbers.add('ox')).toBe(1);
    expect(['zoo', 'ox', 'owl'].map((each) => numbers.find(each))).toEqual([0, 1, 2]);
  });

  it('keeps what a Map keeps, whoever comes and goes', () => {
    const known = new Map<string, number>();
    let random = 7;
    const next = (below: number): number => {
      random = (Math.imul(random, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      return (random >> 8) % below;
    };
    for (let step = 0; step < 60_000; step++) {
      const subject = `s${next(step < 30_000 ? 8_000 : 3_000)}`;
      const number = known.get(subject);
      expect(numbers.find(subject)).toBe(number);
      if (number === undefined) {
        known.set(subject, numbers.add(subject));
      } else if (next(3) > 0) {
        numbers.remove(number);
        known.delete(subject);
      }
    }
    expect(numbers.size).toBe(known.size);
    for (const [subject, number] of known) expect(numbers.nameOf(number)).toBe(subject);
    expect(new Set(known.values()).size).toBe(known.size);
  });

  it('takes no more bytes, however many have come and gone', () => {
    for (const name of ['zoo', 'a name that is longer than most are']) numbers.add(name);
    const bytes = () => numbers['names']['longer'].bytes.length;
    for (let round = 0; round < 200; round++) {
      const added = Array.from({ length: 500 }, (_none, at) =>
        numbers.add('ip:'.padEnd(8 + ((round + at) % 35), String(round * 500 + at))),
      );
      for (const number of new Set(added)) numbers.remove(number);
    }
    expect(bytes()).toBeLessThanOrEqual(131_072);
    expect([0, 1].map((number) => numbers.nameOf(number))).toEqual([
      'zoo',
      'a name that is longer than most are',
    ]);
  });

  it('keeps thousands of any length', () => {
    const names = Array.from({ length: 5_000 }, (_none, at) => 'x'.repeat(at % 60) + at);
    expect(names.map((name) => numbers.add(name))).toEqual([...names.keys()]);
    expect(names.map((name) => numbers.find(name))).toEqual([...names.keys()]);
    expect(numbers.find('x')).toBeUndefined();
  });
});

describe(Names.name, () => {
  it('keeps of each number the name that it was set to last, of whatever length', () => {
    const names = new Names();
    const kept = new Map<number, string>();
    for (let step = 0; step < 20_000; step++) {
      const number = (step * 7_919) % 1_500;
      const name = 'é'.repeat((step * 31) % 40) + step;
      names.set(number, name);
      kept.set(number, name);
    }
    for (const [number, name] of kept) expect(names.get(number)).toBe(name);
    names.remove(7);
    expect(names.get(7)).toBe('');
  });
});

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
