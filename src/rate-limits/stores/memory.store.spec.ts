import { FakeClock } from '../../../test/support/clock.js';
import { passBy } from '../../../test/support/pass-by.js';
import { describeStore, SUITE_POLICY } from '../../../test/support/rate-limit-store.suite.js';
import { Limits } from '../limits.js';
import { SharedNames } from '../names.js';
import { addressSubject } from '../subject.js';
import { type Counter, CounterTable, MemoryStore } from './memory.store.js';

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

const limits = new Limits(2, 3);

describe(MemoryStore.name, () => {
  let clock: FakeClock;
  let store: MemoryStore;
  beforeEach(() => {
    clock = new FakeClock();
    store = new MemoryStore(clock, { afterRejections: 2, firstBanMs: 10_000 }, undefined, {
      clients: 4,
      addresses: 32,
    });
  });

  const take = (times: number, subject = 'zoo', of = limits) =>
    Array.from({ length: times }, () => store.take(subject, of).admitted);
  const takeUnbrought = (...subjects: string[]) =>
    store.tables.flatMap((table) => {
      const rows = [...table.marked()].filter((row) => subjects.includes(table.subjectOf(row)));
      return store.takeUnbrought(table, rows);
    });

  it('takes from both windows or from neither', () => {
    expect(take(3)).toEqual([true, true, false]);
    expect(store.peek('zoo')).toMatchObject({ minuteUsed: 2, dayUsed: 2, bannedUntilMs: 0 });
    clock.advance(60_000);
    expect(take(2)).toEqual([true, false]);
    expect(store.peek('zoo')).toMatchObject({ minuteUsed: 1, dayUsed: 3 });
    clock.advance(60_000);
    expect(take(1)).toEqual([false]);
    clock.set('2026-06-16T00:00:00Z');
    expect(take(3)).toEqual([true, true, false]);
  });

  it('knows nothing of a subject that it has not seen', () => {
    expect(store.peek('nobody')).toMatchObject({ admitted: true, minuteUsed: 0, dayUsed: 0 });
    store.unban('nobody');
    expect(store.size).toBe(0);
  });

  it('refills nothing when the clock is set back', () => {
    take(2);
    clock.advance(-120_000);
    expect(take(1)).toEqual([false]);
    clock.advance(120_000);
    expect(take(1)).toEqual([false]);
  });

  it('is exact at a limit of a million', () => {
    const many = new Limits(1_000_000, 1_000_000);
    let admitted = 0;
    for (let hit = 0; hit < 1_000_100; hit++) if (store.take('big', many).admitted) admitted++;
    expect(admitted).toBe(1_000_000);
  });

  it('bans whoever goes on after refusals, and no address', () => {
    take(2);
    expect(store.take('zoo', limits).bannedUntilMs).toBe(0);
    expect(store.take('zoo', limits).bannedUntilMs).toBe(0);
    expect(store.take('zoo', limits).bannedUntilMs).toBe(clock.now() + 10_000);
    clock.advance(5_000);
    expect(store.take('zoo', limits).bannedUntilMs).toBe(clock.now() + 5_000);
    expect(store.peek('zoo')).toMatchObject({
      admitted: false,
      bannedUntilMs: clock.now() + 5_000,
    });
    take(10, addressSubject('::1'), limits);
    expect(store.peek(addressSubject('::1')).bannedUntilMs).toBe(0);
  });

  it('tells of a ban with the refusal that it begins with, and with no other', () => {
    const told = Array.from({ length: 9 }, () => store.take('zoo', limits)).map(
      ({ newBan }) => newBan,
    );
    expect(told.filter((ban) => ban !== undefined)).toEqual([store.known('zoo')!.ban]);
  });

  it('bans nobody where the threshold is 0', () => {
    store = new MemoryStore(clock, { afterRejections: 0, firstBanMs: 10_000 });
    for (let hit = 0; hit < 500; hit++) {
      expect(store.take('zoo', limits).bannedUntilMs).toBe(0);
    }
  });

  it('keeps a ban that a restart has brought back, and the next one is twice as long', () => {
    const at = clock.now() - 1_000;
    store.restoreBan('zoo', { at, until: at + 10_000, bans: 1 });
    expect(store.take('zoo', limits).bannedUntilMs).toBe(at + 10_000);
    clock.advance(60_000);
    const decisions = Array.from({ length: 5 }, () => store.take('zoo', limits));
    expect(decisions.at(-1)!.bannedUntilMs).toBe(clock.now() + 20_000);
  });

  it('counts refusals anew each minute', () => {
    take(4);
    clock.advance(60_000);
    take(1);
    expect(store.take('zoo', limits).bannedUntilMs).toBe(0);
    expect(store.take('zoo', limits).bannedUntilMs).toBe(0);
    expect(store.take('zoo', limits).bannedUntilMs).toBeGreaterThan(0);
  });

  it('ends a ban when told to, and counts refusals from zero', () => {
    take(5);
    store.unban('zoo');
    expect(store.take('zoo', limits).bannedUntilMs).toBe(0);
    expect(store.take('zoo', limits).bannedUntilMs).toBe(0);
    expect(store.take('zoo', limits).bannedUntilMs).toBeGreaterThan(0);
  });

  it.each([
    ['begun', (at: number) => ({ at, until: at, bans: 1 })],
    ['lifted', (at: number) => ({ at: at - 1, until: 0, bans: 1 })],
  ])('counts refusals from zero after a ban that was %s elsewhere', (_what, banAt) => {
    take(4);
    store.restoreBan('zoo', banAt(clock.now()));
    for (let refusal = 0; refusal < 2; refusal++) {
      expect(store.take('zoo', limits).bannedUntilMs).toBe(0);
    }
    expect(store.take('zoo', limits).bannedUntilMs).toBeGreaterThan(0);
  });

  it('believes the newest news of a ban', () => {
    const at = clock.now();
    store.restoreBan('zoo', { at, until: at + 1_000, bans: 1 });
    store.restoreBan('zoo', { at: at - 1, until: 0, bans: 1 });
    expect(store.peek('zoo').bannedUntilMs).toBe(at + 1_000);
    store.restoreBan('zoo', { at, until: 0, bans: 1 });
    expect(store.peek('zoo').bannedUntilMs).toBe(0);
  });

  it('never lowers a count by one saved earlier', () => {
    take(2);
    const { minuteUsed, dayUsed } = store.peek('zoo');
    const minute = Math.floor(clock.now() / 60_000);
    const day = Math.floor(clock.now() / 86_400_000);
    store.restore({ subject: 'zoo', minute, minuteUsed: 1, day, dayUsed: 1 });
    expect(store.peek('zoo')).toMatchObject({ minuteUsed, dayUsed });
    store.restore({ subject: 'zoo', minute: minute - 1, minuteUsed: 9, day: day - 1, dayUsed: 9 });
    expect(store.peek('zoo')).toMatchObject({ minuteUsed, dayUsed });
    store.restore({ subject: 'zoo', minute, minuteUsed: 2, day, dayUsed: 3 });
    expect(store.peek('zoo')).toMatchObject({ minuteUsed: 2, dayUsed: 3 });
    store.restore({ subject: 'zoo', minute: minute + 1, minuteUsed: 1, day: day + 1, dayUsed: 1 });
    expect(store.peek('zoo')).toMatchObject({ minuteUsed: 1, dayUsed: 1 });
  });

  it('tells of each change once, until it has changed again or could not be saved', () => {
    take(6);
    const [saved] = store.takeUnsaved(9);
    expect(saved).toMatchObject({ subject: 'zoo', minuteUsed: 2, dayUsed: 2 });
    expect(store.takeUnsaved(9)).toEqual([]);
    store.putBack([saved!]);
    expect(store.takeUnsaved(9)).toMatchObject([saved!]);
    clock.advance(60_000);
    take(1);
    expect(store.takeUnsaved(9)).toMatchObject([{ subject: 'zoo', minuteUsed: 1, dayUsed: 3 }]);
  });

  it('is bounded, whatever number of addresses is tried, and forgets no key for them', () => {
    take(2, 'zoo');
    for (let host = 0; host < 10_000; host++) take(1, addressSubject(`10.0.${host}`), limits);
    expect(store.size).toBeLessThanOrEqual(33);
    expect(take(1, 'zoo')).toEqual([false]);
  });

  describe('of addresses', () => {
    // A minute of the day's limit of 1,000 is less than one attempt.
    const failures = new Limits(60, 1_000);
    const fail = (times: number, host: number | string, of = failures) =>
      take(times, addressSubject(`192.0.2.${host}`), of);
    const saved = () => store.takeUnsaved(99).map(({ subject }) => subject);

    const fill = () => {
      for (let host = 0; host < 4; host++) fail(1, `filling-${host}`);
      store.takeUnsaved(99);
    };

    it('tells of each while they are few', () => {
      fail(1, 1);
      expect(saved()).toEqual(['ip:192.0.2.1']);
    });

    it('tells nothing to be saved of one that has hardly been seen', () => {
      fill();
      for (let host = 0; host < 20; host++) fail(3, host);
      expect(saved()).toEqual([]);
    });

    it('tells of one whose use is worth some minutes of the day, each time', () => {
      fill();
      fail(4, 1);
      expect(saved()).toEqual(['ip:192.0.2.1']);
      fail(1, 1);
      expect(saved()).toEqual(['ip:192.0.2.1']);
    });

    it('tells of one that has used up its minute', () => {
      fill();
      fail(1, 1, new Limits(1, 1_000));
      expect(saved()).toEqual(['ip:192.0.2.1']);
    });

    it('tells those to be removed that were saved, and of which it knows nothing any more', () => {
      const [minute, day] = [
        Math.floor(clock.now() / 60_000),
        Math.floor(clock.now() / 86_400_000),
      ];
      const restored = addressSubject('192.0.2.restored');
      store.restore({ subject: restored, minute, minuteUsed: 9, day, dayUsed: 9 });
      fail(9, 'brought');
      store.markUnbrought([store.known('ip:192.0.2.brought')!]);
      takeUnbrought('ip:192.0.2.brought');
      fail(9, 'written-down');
      store.takeUnsaved(99);
      expect(store.droppedCount).toBe(0);
      for (let host = 0; host < 64; host++) fail(9, host);
      const dropped = store.takeDropped(1);
      expect(dropped).toEqual([restored]);
      store.putBackDropped(dropped);
      expect(store.takeDropped(9)).toEqual(['ip:192.0.2.brought', restored]);
    });

    it('tells none to be removed that has come back, until it goes again', () => {
      const fill = () => {
        for (let host = 0; host < 64; host++) fail(9, host);
      };
      fail(9, 'back');
      store.takeUnsaved(99);
      store.markUnbrought([store.known('ip:192.0.2.back')!]);
      expect(takeUnbrought('ip:192.0.2.back')).toHaveLength(1);
      fill();
      expect(store.droppedCount).toBe(1);
      fail(9, 'back');
      expect(store.takeDropped(9)).toEqual([]);
      fill();
      expect(store.takeDropped(9)).toEqual(['ip:192.0.2.back']);
    });

    it('tells those to be removed that it forgot while they were brought', () => {
      for (const name of ['first', 'forgotten', 'known']) fail(9, name);
      const both = ['ip:192.0.2.forgotten', 'ip:192.0.2.known'];
      store.markUnbrought(both.map((subject) => store.known(subject)!));
      const counts = takeUnbrought(...both);
      for (let host = 0; host < 30; host++) fail(9, host);
      expect(store.takeDropped(9)).toEqual(['ip:192.0.2.forgotten']);
      expect(store.known('ip:192.0.2.forgotten')).toBeUndefined();
      store.noteBrought(counts);
      expect(store.takeDropped(9)).toEqual(['ip:192.0.2.forgotten']);
    });
  });

  it('marks who waits to be brought to its row, until it is taken or forgotten', () => {
    const waiting = () =>
      store.tables.flatMap((table) => Array.from(table.marked(), (row) => table.subjectOf(row)));
    take(1, 'zoo');
    take(1, 'ark');
    const counts = store.takeUnsaved(9);
    expect(waiting()).toEqual([]);
    store.markUnbrought([...counts, { ...counts[0]!, subject: 'nobody' }]);
    expect(waiting()).toEqual(['zoo', 'ark']);
    take(1, 'ark');
    expect(takeUnbrought('ark')).toMatchObject([{ subject: 'ark', dayUsed: 2 }]);
    expect(takeUnbrought('ark')).toEqual([]);
    expect(waiting()).toEqual(['zoo']);
    for (const other of ['a', 'b', 'c', 'd']) take(1, other);
    expect(store.known('zoo')).toBeUndefined();
    expect(waiting()).toEqual([]);
  });

  it('forgets first whose day is over', () => {
    for (const subject of ['old', 'banned']) take(1, subject);
    store.restoreBan('banned', { at: clock.now(), until: clock.now() + 172_800_000, bans: 1 });
    clock.advance(86_400_000);
    for (const subject of ['a', 'b', 'c', 'd']) take(1, subject);
    expect(store.size).toBeLessThanOrEqual(4);
    expect(store.peek('banned').bannedUntilMs).toBeGreaterThan(0);
  });
});

describeStore(
  MemoryStore.name,
  () => {
    const clock = new FakeClock();
    const store = new MemoryStore(clock, SUITE_POLICY);
    return Promise.resolve({ store, clock, close: () => Promise.resolve() });
  },
  true,
);
