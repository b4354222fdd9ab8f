import { passBy } from '../../../test/support/pass-by.js';
import { SharedNames } from '../shared-names.js';
import { type Counter, CounterTable } from './counter-table.js';

function counterOf(subject: string, used = 0): Counter {
  return {
    subject,
    minute: 1,
    minuteUsed: used,
    day: 2,
    dayUsed: used,
    refusals: 0,
    ban: undefined,
  };
}

describe(CounterTable.name, () => {
  let names: SharedNames;
  let table: CounterTable;
  beforeEach(() => {
    names = new SharedNames();
    table = new CounterTable(names);
  });

  it('gives back what was set, as a copy', () => {
    const ban = { at: 1, until: 2, bans: 1 };
    const counter = {
      ...counterOf('zoo', 4e9),
      dayUsed: 1e12,
      minute: 29_627_040,
      refusals: 9,
      ban,
    };
    table.set(counter);
    expect(table.get('zoo')).toEqual(counter);
    table.get('zoo')!.minuteUsed = 7;
    expect(table.get('zoo')).toEqual(counter);
    expect([table.get('ark'), table.has('ark'), table.banOf('ark')]).toEqual([
      undefined,
      false,
      undefined,
    ]);
  });

  it('counts beyond 32 bits a day, and from 0 on the next, or for another', () => {
    for (const dayUsed of [2 ** 32 - 1, 2 ** 32, 1e12, 5]) {
      table.set({ ...counterOf('zoo'), dayUsed });
      expect(table.get('zoo')!.dayUsed).toBe(dayUsed);
    }
    table.set({ ...counterOf('zoo'), dayUsed: 1e12 });
    expect(table.drop(1, () => true)).toEqual(['zoo']);
    table.set(counterOf('zoo', 5));
    expect(table.get('zoo')!.dayUsed).toBe(5);
  });

  it('marks those that it knows, and no newcomer in the place of one that was marked', () => {
    const marked = () => Array.from(table.marked(), (row) => table.subjectOf(row));
    for (let count = 0; count < 3_000; count++) table.set(counterOf(`key_${count}`));
    for (const subject of ['key_7', 'key_2999', 'nobody']) table.mark(subject);
    expect(marked()).toEqual(['key_7', 'key_2999']);
    const [, last] = table.marked();
    expect([last!, last!].map((row) => table.unmark(row))).toEqual([true, false]);
    expect(marked()).toEqual(['key_7']);
    expect(table.drop(8, () => true)).toContain('key_7');
    for (let count = 0; count < 8; count++) table.set(counterOf(`new_${count}`));
    expect(marked()).toEqual([]);
  });

  it('has room for any number, and keeps those that came first', () => {
    for (let round = 1; round <= 2; round++) {
      for (let key = 0; key < 5_000; key++) table.set(counterOf(`k${key}`, key + round));
    }
    expect(table.size).toBe(5_000);
    for (const key of [0, 1_023, 1_024, 4_999]) {
      expect(table.get(`k${key}`)).toEqual(counterOf(`k${key}`, key + 2));
    }
  });

  it('keeps the names of its subjects, whoever passes by, and not those of the dropped', async () => {
    for (let key = 0; key < 3_000; key++) table.set(counterOf(`k${key}`, key));
    table.mark('k7');
    const dropped = table.drop(1_000, () => true);
    await passBy(names);
    expect(dropped.map((subject) => names.find(subject)).filter(Number)).toEqual([]);
    for (let key = 0; key < 3_000; key++) {
      const counter = dropped.includes(`k${key}`) ? undefined : counterOf(`k${key}`, key);
      expect(table.get(`k${key}`)).toEqual(counter);
    }
    expect(table.size).toBe(2_000);
    // Numbers that others have were not made theirs.
    expect(['first_9', 'second_9'].map((each) => table.has(each))).toEqual([false, false]);
  });

  it('drops the longest known that may go, with their bans, and takes their rows for others', () => {
    for (const subject of ['a', 'b', 'c', 'd']) {
      table.set({ ...counterOf(subject, 5), ban: { at: 1, until: 2, bans: 1 } });
    }
    table.set({ ...counterOf('b', 5), day: 3 });
    expect(table.drop(2, (day) => day < 3)).toEqual(['a', 'c']);
    expect([table.size, table.banOf('a'), table.banOf('d')?.bans]).toEqual([2, undefined, 1]);
    table.set(counterOf('e', 1));
    table.set(counterOf('f', 2));
    table.set(counterOf('g', 3));
    const left = ['b', 'd', 'e', 'f', 'g'].map((subject) => table.get(subject)!.minuteUsed);
    expect(left).toEqual([5, 5, 1, 2, 3]);
    expect(table.get('e')!.ban).toBeUndefined();
  });
});
