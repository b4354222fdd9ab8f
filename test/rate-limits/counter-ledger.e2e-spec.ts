import { Engine } from '../../src/database/engine.js';
import { run, Statement } from '../../src/database/statement.js';
import { CounterLedger, type SavedCount } from '../../src/rate-limits/counter-ledger.js';
import { addressSubject } from '../../src/rate-limits/subject.js';
import { startService, type TestService } from '../support/start-service.js';

// A day that has not come: nothing of the service itself is in it.
const day = 40_000;
const firstMinute = day * 1_440;
const seen = (subject: string, minute: number, used: number, ofDay = day): SavedCount => {
  return { subject, minute, minuteUsed: used, day: ofDay, dayUsed: used };
};
const zoo = seen('key_zoo', firstMinute, 7);
const addresses = [3, 1, 4, 2].map((minute) =>
  seen(addressSubject(`203.0.113.${minute}`), firstMinute + minute, 5),
);

describe(CounterLedger.name, () => {
  let service: TestService;
  let ledger: CounterLedger;
  beforeAll(async () => {
    service = await startService();
    ledger = service.store.app.get(CounterLedger);
    await ledger.save([zoo, ...addresses]);
  });
  afterAll(() => service?.close());

  const since = async (from: number, maxAddresses: number): Promise<SavedCount[]> => {
    const told: SavedCount[] = [];
    for await (const counts of ledger.since(from, maxAddresses)) told.push(...counts);
    return told;
  };

  it('tells of every key, and only of as many addresses as asked for, the latest at the end', async () => {
    const told = (await since(day, 2)).map(({ subject }) => subject);
    expect(told).toEqual(['key_zoo', 'ip:203.0.113.3', 'ip:203.0.113.4']);
    expect(await since(day, 100)).toHaveLength(5);
  });

  it('tells of any number, some thousands at a time', async () => {
    const later = day + 10;
    const many = Array.from({ length: 12_000 }, (_none, index) => {
      const subject = index % 2 === 0 ? `key_${index}` : addressSubject(`many.${index}`);
      return seen(subject, later * 1_440 + (index % 1_000), 7, later);
    });
    await ledger.save(many);
    const query = jest.spyOn(service.store.app.get(Engine), 'query');
    try {
      const told = await since(later, 100);
      const keys = told.slice(0, 6_000).map(({ subject }) => subject);
      expect(new Set(keys).size).toBe(6_000);
      expect(keys.filter((subject) => !subject.startsWith('key_'))).toEqual([]);
      expect(told).toHaveLength(6_100);
      const minutes = told.slice(6_000).map(({ minute }) => minute - later * 1_440);
      expect(minutes).toEqual(minutes.toSorted((one, other) => one - other));
      expect(minutes[0]).toBeGreaterThan(960);
      for (const { value } of query.mock.results) {
        expect(((await value) as unknown[]).length).toBeLessThanOrEqual(5_000);
      }
      expect((await since(later, 10_000)).length).toBe(12_000);
    } finally {
      query.mockRestore();
      await ledger.forget(many.map(({ subject }) => subject));
    }
    expect(await since(later, 100)).toEqual([]);
  });

  it('tells of no earlier day', async () => {
    expect(await since(day + 1, 100)).toEqual([]);
  });

  it('never lowers a count within its window by one that arrives late', async () => {
    await ledger.save([{ ...zoo, minuteUsed: 6, dayUsed: 6 }]);
    expect(await ledger.find('key_zoo')).toEqual(zoo);
    await ledger.save([{ ...zoo, minute: firstMinute + 1, minuteUsed: 1, dayUsed: 8 }]);
    expect(await ledger.find('key_zoo')).toMatchObject({ minuteUsed: 1, dayUsed: 8 });
  });

  it('keeps the higher count of each window, of two that count apart', async () => {
    const here = { ...seen('key_apart', firstMinute + 5, 4), dayUsed: 900 };
    const there = { ...seen('key_apart', firstMinute + 6, 2), dayUsed: 10 };
    await ledger.save([here]);
    await ledger.save([there]);
    expect(await ledger.find('key_apart')).toEqual({ ...there, dayUsed: 900 });
    await ledger.save([{ ...here, dayUsed: 901 }]);
    expect(await ledger.find('key_apart')).toEqual({ ...there, dayUsed: 901 });
    await ledger.save([{ ...there, minuteUsed: 3, dayUsed: 11 }]);
    expect(await ledger.find('key_apart')).toEqual({ ...there, minuteUsed: 3, dayUsed: 901 });
  });

  describe('of what is in the journal', () => {
    const later = day + 20;
    const at = (minute: number, used: number, dayUsed = used) => {
      return { minute: later * 1_440 + minute, minuteUsed: used, day: later, dayUsed };
    };
    /** Whom they tell of. */
    const entries = async (): Promise<string[]> => {
      const told: string[] = [];
      for await (const [count] of ledger.journal.entries()) told.push(count![0]);
      return told.filter((subject) => subject.endsWith('_journalled'));
    };
    const { signal } = new AbortController();
    const write = (sequence: number, ...counts: SavedCount[]) =>
      ledger.append('an ended process', sequence, counts);

    it('tells as of what is in rows: of each window the higher count', async () => {
      await ledger.save([{ subject: 'key_journalled', ...at(1, 9, 90) }]);
      await write(1, { subject: 'key_journalled', ...at(2, 1, 80) });
      await write(2, { subject: 'key_journalled', ...at(2, 3, 70) });
      const of = { subject: 'key_journalled', ...at(2, 3, 90) };
      expect(await ledger.find('key_journalled')).toEqual(of);
      expect(await ledger.find('key_journall')).toBeUndefined();
      const told = (await since(later, 0)).filter(({ subject }) => subject === of.subject);
      expect(Math.max(...told.map(({ dayUsed }) => dayUsed))).toBe(90);
      expect(told).toContainEqual({ subject: 'key_journalled', ...at(2, 3, 70) });
    });

    it('tells of an address once, however many entries tell of it', async () => {
      const busy = addressSubject('busy_journalled');
      const calm = addressSubject('calm_journalled');
      await ledger.save([{ subject: calm, ...at(1, 5) }]);
      for (let entry = 3; entry < 60; entry++) {
        await write(entry, { subject: busy, ...at(entry, entry) });
      }
      expect(await since(later + 1, 9)).toEqual([]);
      const told = (await since(later, 2)).filter(({ subject }) => subject.startsWith('ip'));
      expect(told).toEqual([
        { subject: calm, ...at(1, 5) },
        { subject: busy, ...at(59, 59) },
      ]);
    });

    it('brings to rows what an ended process has left, once it has been silent for minutes', async () => {
      await ledger.journal.adopt(signal);
      expect(await entries()).toHaveLength(59);
      const engine = service.store.app.get(Engine);
      const age = new Statement('test.age', () => 'UPDATE rate_limit_journal SET saved_at = 0');
      await engine.write(() => run(age));
      const before = await ledger.find('key_journalled');
      await ledger.journal.adopt(signal);
      expect(await entries()).toEqual([]);
      expect(await ledger.find('key_journalled')).toEqual(before);
      expect(await ledger.find('ip:busy_journalled')).toMatchObject(at(59, 59));
    });

    it('drops none that it has not brought, though the clock was set back between two', async () => {
      const subjects = ['one_journalled', 'two_journalled'];
      for (const [entry, subject] of subjects.entries()) {
        await write(entry + 100, { subject, ...at(1, 7) });
      }
      const engine = service.store.app.get(Engine);
      const age = 'UPDATE rate_limit_journal SET saved_at = 0 WHERE sequence = 101';
      await engine.write(() => run(new Statement('test.age-one', () => age)));
      await ledger.journal.adopt(AbortSignal.abort());
      expect(await entries()).toEqual(subjects);
      await ledger.journal.adopt(signal);
      expect(await entries()).toEqual(['one_journalled']);
      for (const subject of subjects) expect(await ledger.find(subject)).toMatchObject(at(1, 7));
      await ledger.journal.drop('an ended process', 101);
    });

    it('drops what was brought, and nothing that was written down later', async () => {
      for (const entry of [1, 2, 3])
        await write(entry, { subject: `${entry}_journalled`, ...at(1, 1) });
      await ledger.journal.drop('another', 9);
      await ledger.journal.drop('an ended process', 2);
      expect(await entries()).toEqual(['3_journalled']);
      await ledger.journal.drop('an ended process', 3);
    });

    it('finds a subject of any letters', async () => {
      const subject = 'key_"\\%_é\t_journalled';
      await write(4, { subject, ...at(1, 7) });
      expect(await ledger.find(subject)).toEqual({ subject, ...at(1, 7) });
      await ledger.journal.drop('an ended process', 4);
    });
  });

  it('forgets earlier days, and knows nothing of whom it has not counted', async () => {
    const old = [1, 2, 3].map((key) => seen(`key_old_${key}`, firstMinute - 1_440, 3, day - 1));
    await ledger.save(old);
    expect(await ledger.forgetBefore(day, 2)).toBe(2);
    expect(await ledger.forgetBefore(day, 2)).toBe(1);
    for (const { subject } of old) expect(await ledger.find(subject)).toBeUndefined();
    expect(await ledger.find('key_nobody')).toBeUndefined();
    expect(await ledger.find('key_zoo')).toBeDefined();
  });
});
