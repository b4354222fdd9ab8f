import { Engine } from '../../src/database/engine.js';
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

  it('tells of every key, and only of as many addresses as asked for, the latest at the end', async () => {
    const told = (await ledger.since(day, 2)).map(({ subject }) => subject);
    expect(told).toEqual(['key_zoo', 'ip:203.0.113.3', 'ip:203.0.113.4']);
    expect(await ledger.since(day, 100)).toHaveLength(5);
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
      const told = await ledger.since(later, 100);
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
      expect((await ledger.since(later, 10_000)).length).toBe(12_000);
    } finally {
      query.mockRestore();
      await ledger.forget(many.map(({ subject }) => subject));
    }
    expect(await ledger.since(later, 100)).toEqual([]);
  });

  it('tells of no earlier day', async () => {
    expect(await ledger.since(day + 1, 100)).toEqual([]);
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
