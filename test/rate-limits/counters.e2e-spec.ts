import { CounterRepository } from '../../src/core/rate-limits/counter.repository.js';
import type { RateLimitCounter } from '../../src/core/rate-limits/rate-limit-counter.entity.js';
import { addressRateLimitKey } from '../../src/core/rate-limits/rate-limit-key.js';
import { useService } from '../support/start-service.js';

// A day in the future: the service itself has counted nothing in it.
const day = 40_000;
const firstMinute = day * 1_440;
const countOf = (key: string, minute: number, used: number, ofDay = day): RateLimitCounter => {
  return { key, minute, minuteUsed: used, day: ofDay, dayUsed: used };
};

describe(CounterRepository.name, () => {
  const { service } = useService();
  let counters: CounterRepository;
  beforeAll(() => {
    counters = service.store.app.get(CounterRepository);
  });

  it('saves any number of counts, and returns the counts of a day, oldest first', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) =>
      countOf(`key_${index}`, firstMinute + (index % 7), index),
    );
    await counters.save([...many, countOf('key_old', firstMinute - 1, 1, day - 1)]);
    const since = await counters.since(day);
    const minutes = since.map(({ minute }) => minute);
    expect(minutes).toEqual(minutes.toSorted((one, other) => one - other));
    expect(new Map(since.map((count) => [count.key, count]))).toEqual(
      new Map(many.map((count) => [count.key, count])),
    );
  });

  it('keeps the higher count of each window, whichever node saves it', async () => {
    const here = { ...countOf('key_apart', firstMinute + 5, 4), dayUsed: 5_000_000_000 };
    const there = { ...countOf('key_apart', firstMinute + 6, 2), dayUsed: 10 };
    await counters.save([here]);
    await counters.save([there]);
    expect(await counters.find('key_apart')).toEqual({ ...there, dayUsed: 5_000_000_000 });
    await counters.save([{ ...there, minuteUsed: 1, dayUsed: 11 }]);
    expect(await counters.find('key_apart')).toEqual({ ...there, dayUsed: 5_000_000_000 });
    await counters.save([{ ...there, day: day + 1, dayUsed: 1 }]);
    expect(await counters.find('key_apart')).toEqual({ ...there, day: day + 1, dayUsed: 1 });
    expect(await counters.find('key_nobody')).toBeNull();
  });

  const { signal } = new AbortController();

  it('forgets earlier days', async () => {
    await counters.save(
      [1, 2].map((countedDay) => countOf(`key_day_${countedDay}`, 1, 3, countedDay)),
    );
    await counters.forgetBefore(2, signal);
    expect(await counters.find('key_day_1')).toBeNull();
    expect(await counters.find('key_day_2')).not.toBeNull();
  });

  it('forgets addresses that were not seen since a minute, and no client', async () => {
    const [gone, seen] = [addressRateLimitKey('203.0.113.7'), addressRateLimitKey('203.0.113.8')];
    await counters.save([countOf(gone, 7, 1), countOf(seen, 8, 1), countOf('key_7', 7, 1)]);
    await counters.forgetAddressesBefore(8, signal);
    expect(await counters.find(gone)).toBeNull();
    expect(await counters.find(seen)).not.toBeNull();
    expect(await counters.find('key_7')).not.toBeNull();
  });
});
