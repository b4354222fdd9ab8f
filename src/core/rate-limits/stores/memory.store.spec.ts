import type { Config } from '../../config/config.js';
import { FakeClock } from '../../../../test/support/clock.js';
import { describeStore, SUITE_CONFIG } from '../../../../test/support/rate-limit-store.suite.js';
import { dayOf, minuteOf } from '../../time/windows.js';
import { addressRateLimitKey } from '../rate-limit-key.js';
import { MemoryStore } from './memory.store.js';

const limits = { perMinute: 2, perDay: 3 };
const MAX_ADDRESSES = 100_000;

describeStore(
  MemoryStore.name,
  () => {
    const clock = new FakeClock();
    const store = new MemoryStore(clock, SUITE_CONFIG);
    return Promise.resolve({
      store,
      restoreBan: (key, ban) => store.restoreBan(key, ban),
      clock,
      close: () => Promise.resolve(),
    });
  },
  true,
);

describe(MemoryStore.name, () => {
  let clock: FakeClock;
  let store: MemoryStore;
  beforeEach(() => {
    clock = new FakeClock();
    store = new MemoryStore(clock, { banAfterRejections: 2, banSeconds: 10 } as Config);
  });

  const take = (times: number, key = 'zoo', of = limits) =>
    Array.from({ length: times }, () => store.take(key, of).admitted);
  const changed = () => store.takeChanged().map(({ key }) => key);
  const fail = (host: number) => take(1, addressRateLimitKey(`10.0.${host}`));
  const usedBy = (host: number) => store.peek(addressRateLimitKey(`10.0.${host}`)).dayUsed;

  it('is exact at a limit of a million', () => {
    const many = { perMinute: 1_000_000, perDay: 1_000_000 };
    let admitted = 0;
    for (let hit = 0; hit < 1_000_100; hit++) if (store.take('big', many).admitted) admitted++;
    expect(admitted).toBe(1_000_000);
  });

  it('never bans if the threshold is 0', () => {
    store = new MemoryStore(clock, { banAfterRejections: 0, banSeconds: 10 } as Config);
    take(500);
    expect(store.peek('zoo').bannedUntilMs).toBe(0);
  });

  it('reports a ban only with the rejection that starts it', () => {
    const decisions = Array.from({ length: 9 }, () => store.take('zoo', limits));
    const bans = decisions.map(({ newBan }) => newBan).filter((ban) => ban !== undefined);
    expect(bans).toEqual([store.banOf('zoo')]);
  });

  describe('with bans from the database', () => {
    it('continues a ban, and doubles the next one', () => {
      const at = clock.now() - 1_000;
      store.restoreBan('zoo', { at, until: at + 10_000, bans: 1 });
      expect(store.take('zoo', limits).bannedUntilMs).toBe(at + 10_000);
      clock.advance(60_000);
      take(5);
      expect(store.peek('zoo').bannedUntilMs).toBe(clock.now() + 20_000);
    });

    it.each([
      ['started', (at: number) => ({ at, until: at, bans: 1 })],
      ['lifted', (at: number) => ({ at: at - 1, until: 0, bans: 1 })],
    ])('counts rejections from zero after a ban was %s elsewhere', (_what, banAt) => {
      take(4);
      store.restoreBan('zoo', banAt(clock.now()));
      take(2);
      expect(store.peek('zoo').bannedUntilMs).toBe(0);
      take(1);
      expect(store.peek('zoo').bannedUntilMs).toBeGreaterThan(0);
    });

    it('applies the newest ban', () => {
      const at = clock.now();
      store.restoreBan('zoo', { at, until: at + 1_000, bans: 1 });
      store.restoreBan('zoo', { at: at - 1, until: 0, bans: 1 });
      expect(store.peek('zoo').bannedUntilMs).toBeGreaterThan(0);
      store.restoreBan('zoo', { at, until: 0, bans: 1 });
      expect(store.peek('zoo').bannedUntilMs).toBe(0);
    });
  });

  it('never lowers a count by a saved one', () => {
    const [minute, day] = [minuteOf(clock.now()), dayOf(clock.now())];
    const saved = { key: 'zoo', minute, minuteUsed: 1, day, dayUsed: 1 };
    take(2);
    store.restore(saved);
    store.restore({ ...saved, minute: minute - 1, minuteUsed: 9, day: day - 1, dayUsed: 9 });
    expect(store.peek('zoo')).toMatchObject({ minuteUsed: 2, dayUsed: 2 });
    store.restore({ ...saved, dayUsed: 3 });
    expect(store.peek('zoo')).toMatchObject({ minuteUsed: 2, dayUsed: 3 });
    store.restore({ ...saved, minute: minute + 1, day: day + 1 });
    expect(store.peek('zoo')).toMatchObject({ minuteUsed: 1, dayUsed: 1 });
  });

  it('reports each change once, until the counter changes again or could not be saved', () => {
    take(6);
    const counts = store.takeChanged();
    expect(counts).toMatchObject([{ key: 'zoo', minuteUsed: 2, dayUsed: 2 }]);
    expect(changed()).toEqual([]);
    store.putBack(counts);
    expect(changed()).toEqual(['zoo']);
    clock.advance(60_000);
    take(1);
    expect(store.takeChanged()).toMatchObject([{ key: 'zoo', minuteUsed: 1, dayUsed: 3 }]);
  });

  it('is bounded for any number of addresses, and forgets no client for them', () => {
    take(2);
    for (let host = 0; host < 2 * MAX_ADDRESSES; host++) fail(host);
    expect(store.size).toBe(MAX_ADDRESSES + 1);
    expect(changed()).toHaveLength(MAX_ADDRESSES + 1);
    expect(take(1)).toEqual([false]);
  });

  it('forgets the least recently seen address first', () => {
    fail(0);
    expect(store.oldestAddressMinute).toBeUndefined();
    for (let host = 1; host < MAX_ADDRESSES; host++) fail(host);
    expect(store.oldestAddressMinute).toBe(minuteOf(clock.now()));
    clock.advance(60_000);
    fail(0);
    fail(MAX_ADDRESSES);
    expect([usedBy(0), usedBy(1), usedBy(2)]).toEqual([2, 0, 1]);
    for (let host = 1; host < MAX_ADDRESSES; host++) fail(MAX_ADDRESSES + host);
    expect(store.oldestAddressMinute).toBe(minuteOf(clock.now()));
  });

  it('takes back no counter of an address that it has forgotten', () => {
    fail(0);
    const counts = store.takeChanged();
    for (let host = 1; host <= MAX_ADDRESSES; host++) fail(host);
    store.putBack(counts);
    expect(changed()).toHaveLength(MAX_ADDRESSES);
  });

  it('forgets windows that have ended', () => {
    store.count('list zoo', 1_000);
    store.count('get zoo', 86_400_000);
    clock.advance(1_000);
    store.forgetBefore(dayOf(clock.now()));
    expect(store.size).toBe(1);
    expect(store.count('get zoo', 86_400_000).used).toBe(2);
  });

  it('forgets clients of earlier days, but no ban', () => {
    take(1);
    store.restoreBan('banned', { at: clock.now(), until: clock.now() + 10_000, bans: 1 });
    const day = dayOf(clock.now());
    store.forgetBefore(day);
    expect(store.size).toBe(2);
    clock.advance(86_400_000);
    take(1, 'ark');
    store.restoreBan('late', { at: clock.now(), until: clock.now() + 10_000, bans: 2 });
    store.forgetBefore(day + 1);
    expect(store.size).toBe(2);
    expect(changed()).toEqual(['ark']);
  });
});
