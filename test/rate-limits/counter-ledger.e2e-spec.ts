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
