import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../../src/core/config/config.js';
import type { Limits } from '../../src/core/rate-limits/limits.js';
import { addressRateLimitKey } from '../../src/core/rate-limits/rate-limit-key.js';
import type { Ban } from '../../src/core/rate-limits/bans/bans.js';
import type { RateLimitStore } from '../../src/core/rate-limits/stores/rate-limit-store.js';
import type { FakeClock } from './clock.js';
import { type Watch, withinOne } from './undisturbed.js';

export const SUITE_CONFIG = { banAfterRejections: 3, banSeconds: 60 } as Config;
const BAN_MS = 60_000;

export interface StoreUnderTest {
  /** Uses `SUITE_CONFIG`; empty except for keys of other tests. */
  store: Pick<RateLimitStore, 'take' | 'peek' | 'count'>;
  /** Tells the store of a ban that the database has. */
  restoreBan(key: string, ban: Ban): void;
  /** Set if the clock of the store can be moved. */
  clock?: FakeClock;
  /** Watches for what else disturbs a test. */
  watch?: Watch;
  close(): Promise<void>;
}

const no = (times: number) => Array.from({ length: times }, () => false);
const isBanned = ({ bannedUntilMs }: { bannedUntilMs: number }) => bannedUntilMs > 0;

let keys = 0;

/**
 * The guarantees of every counter store. For a store with its own clock, a test that the end of a
 * minute or its `watch` disturbed is repeated, and tests that move the clock are left out.
 */
export function describeStore(
  name: string,
  create: () => Promise<StoreUnderTest>,
  hasClock = false,
): void {
  describe(`${name}, as every store`, () => {
    let tested: StoreUnderTest;
    let store: StoreUnderTest['store'];
    let key: string;
    beforeAll(async () => {
      tested = await create();
      ({ store } = tested);
    });
    afterAll(() => tested?.close());
    const onFreshKey = (test: () => Promise<void>) => async (): Promise<void> => {
      key = `suite_${process.pid}_${keys++}`;
      await test();
    };
    const guarantee = (title: string, test: () => Promise<void>): void => {
      const onFresh = onFreshKey(test);
      const watch: Watch = () => tested.watch?.() ?? (() => false);
      it(title, hasClock ? onFresh : withinOne('minute', onFresh, watch));
    };

    const take = async (times: number, limits: Limits, of = key) => {
      const decisions = [];
      for (let request = 0; request < times; request++) {
        decisions.push(await store.take(of, limits));
      }
      return decisions;
    };
    const admissions = async (times: number, limits: Limits, of = key) =>
      (await take(times, limits, of)).map(({ admitted }) => admitted);

    guarantee('admits exactly the limit of any number of simultaneous requests', async () => {
      const limits = { perMinute: 1_000, perDay: 50 };
      const decisions = await Promise.all(
        Array.from({ length: 200 }, async () => store.take(key, limits)),
      );
      expect(decisions.filter(({ admitted }) => admitted)).toHaveLength(50);
      expect(decisions.map(({ dayUsed }) => dayUsed).sort((a, b) => a - b)).toEqual([
        ...Array.from({ length: 49 }, (_, index) => index + 1),
        ...Array.from({ length: 151 }, () => 50),
      ]);
    });

    for (const [window, limits] of [
      ['minute', { perMinute: 2, perDay: 9 }],
      ['day', { perMinute: 9, perDay: 2 }],
    ] as const) {
      guarantee(`counts in neither window if the ${window} is full`, async () => {
        expect(await admissions(4, limits)).toEqual([true, true, false, false]);
        expect(await store.peek(key)).toMatchObject({ minuteUsed: 2, dayUsed: 2 });
      });
    }

    guarantee('counts simultaneous requests in a window of any length once each', async () => {
      const dayMs = 86_400_000;
      const counts = await Promise.all(
        Array.from({ length: 50 }, async () => store.count(`list ${key}`, dayMs)),
      );
      const used = counts.map((count) => count.used).sort((one, other) => one - other);
      expect(used).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
      const { nowMs } = await store.peek(key);
      for (const { endsInMs } of counts) {
        expect(Math.abs(endsInMs - (dayMs - (nowMs % dayMs)))).toBeLessThan(60_000);
      }
      expect((await store.count(`get ${key}`, dayMs)).used).toBe(1);
      expect(await store.peek(key)).toMatchObject({ minuteUsed: 0, dayUsed: 0 });
    });

    guarantee('counts each key separately', async () => {
      const limits = { perMinute: 9, perDay: 1 };
      expect(await admissions(2, limits)).toEqual([true, false]);
      expect(await admissions(2, limits, `${key}_other`)).toEqual([true, false]);
    });

    guarantee('counts nothing when it is read, and has no counts for an unknown key', async () => {
      const unseen = { admitted: true, minuteUsed: 0, dayUsed: 0, bannedUntilMs: 0 };
      expect(await store.peek(key)).toMatchObject(unseen);
      expect(await store.peek(key)).toMatchObject(unseen);
    });

    guarantee('applies changed limits to the requests already counted', async () => {
      await take(5, { perMinute: 9, perDay: 9 });
      expect(await admissions(1, { perMinute: 9, perDay: 3 })).toEqual([false]);
      expect(await admissions(2, { perMinute: 9, perDay: 6 })).toEqual([true, false]);
    });

    guarantee(
      'bans at the rejection that exceeds the threshold, and never prolongs a ban',
      async () => {
        const limits = { perMinute: 9, perDay: 1 };
        const decisions = await take(5, limits);
        expect(decisions.map(isBanned)).toEqual([...no(4), true]);
        const { nowMs, bannedUntilMs } = decisions.at(-1)!;
        expect(bannedUntilMs - nowMs).toBe(BAN_MS);
        const banned = { admitted: false, bannedUntilMs };
        const rejected = await take(9, limits);
        for (const decision of rejected) expect(decision).toMatchObject(banned);
        const newBans = [...decisions, ...rejected].map(({ newBan }) => newBan?.until);
        expect(newBans.filter(Boolean)).toEqual([bannedUntilMs]);
        expect(newBans[4]).toBe(bannedUntilMs);
        expect(await store.peek(key)).toMatchObject(banned);
      },
    );

    guarantee('never bans an address', async () => {
      const decisions = await take(20, { perMinute: 9, perDay: 1 }, addressRateLimitKey(key));
      expect(decisions.every(({ bannedUntilMs }) => bannedUntilMs === 0)).toBe(true);
    });

    guarantee(
      'ends a ban that was lifted, counts rejections from zero, and doubles the next',
      async () => {
        const limits = { perMinute: 9, perDay: 1 };
        const { newBan } = (await take(5, limits))[4]!;
        tested.restoreBan(key, { ...newBan!, until: 0 });
        const decisions = await take(4, limits);
        expect(decisions.map(isBanned)).toEqual([...no(3), true]);
        const { nowMs, bannedUntilMs } = decisions.at(-1)!;
        expect(bannedUntilMs - nowMs).toBe(2 * BAN_MS);
      },
    );

    guarantee('keeps the later end of two bans, until the later of them is lifted', async () => {
      const { at, until } = (await take(5, { perMinute: 9, perDay: 1 }))[4]!.newBan!;
      const others: [Ban, number][] = [
        [{ at: at - 1, until: until + 1_000, bans: 2 }, until + 1_000],
        [{ at: at + 1, until: until - 1_000, bans: 1 }, until + 1_000],
        [{ at: at - 2, until: 0, bans: 1 }, until + 1_000],
        [{ at: at + 1, until: 0, bans: 1 }, 0],
      ];
      for (const [ban, bannedUntilMs] of others) {
        tested.restoreBan(key, ban);
        expect(await store.peek(key)).toMatchObject({ bannedUntilMs });
      }
    });

    if (!hasClock) {
      it('starts a window of any length when the one before has ended', async () => {
        const count = async () => store.count(`list ${key}`, 200);
        const { endsInMs } = await count();
        expect(endsInMs).toBeGreaterThan(0);
        expect(endsInMs).toBeLessThanOrEqual(200);
        await pause(endsInMs + 1);
        expect((await count()).used).toBe(1);
      });
      return;
    }
    describe('with a clock that moves', () => {
      const limits = { perMinute: 2, perDay: 5 };
      const clock = (): FakeClock => tested.clock!;
      beforeEach(() => {
        key = `suite_${process.pid}_${keys++}`;
        clock().set('2026-06-15T12:00:30Z');
      });

      it('opens the minute at :00 and the day at 00:00, not before', async () => {
        expect(await admissions(3, limits)).toEqual([true, true, false]);
        clock().set('2026-06-15T12:00:59.999Z');
        expect(await admissions(1, limits)).toEqual([false]);
        clock().set('2026-06-15T12:01:00Z');
        expect(await admissions(3, limits)).toEqual([true, true, false]);
        clock().set('2026-06-15T12:02:00Z');
        expect(await admissions(2, limits)).toEqual([true, false]);
        clock().set('2026-06-15T23:59:59.999Z');
        expect(await admissions(1, limits)).toEqual([false]);
        clock().set('2026-06-16T00:00:00Z');
        expect(await admissions(3, limits)).toEqual([true, true, false]);
      });

      it('opens a window of any length at a multiple of its length, not before', async () => {
        const count = async () => store.count(`list ${key}`, 7_000);
        const untilEndMs = 7_000 - (clock().now() % 7_000);
        expect(await count()).toEqual({ used: 1, endsInMs: untilEndMs });
        clock().advance(untilEndMs - 1);
        expect(await count()).toEqual({ used: 2, endsInMs: 1 });
        clock().advance(1);
        expect(await count()).toEqual({ used: 1, endsInMs: 7_000 });
        clock().advance(-30_000);
        expect(await count()).toEqual({ used: 2, endsInMs: 37_000 });
      });

      it.each(['2026-06-15T12:00:29Z', '2026-06-15T11:00:00Z', '2026-06-14T12:00:00Z'])(
        'keeps its windows when it is set back to %s, and refills nothing',
        async (earlier) => {
          const [{ minute, day } = {}] = await take(1, limits);
          clock().set(earlier);
          expect(await take(2, limits)).toMatchObject([
            { admitted: true, minute, day },
            { admitted: false, minute, day },
          ]);
          expect(await store.peek(key)).toMatchObject({ minute, day });
        },
      );

      it('counts rejections of one minute only', async () => {
        const banned = { perMinute: 9, perDay: 1 };
        await take(4, banned);
        clock().advance(60_000);
        expect((await take(4, banned)).map(isBanned)).toEqual([...no(3), true]);
      });

      it('applies the windows again after a ban, and resets the length of bans after 24 hours', async () => {
        const strict = { perMinute: 1, perDay: 9 };
        await take(5, strict);
        clock().advance(BAN_MS - 1);
        expect((await store.take(key, strict)).admitted).toBe(false);
        clock().advance(1);
        expect(await admissions(1, strict)).toEqual([true]);
        clock().set('2026-06-16T12:00:30Z');
        const [banned] = (await take(5, strict)).slice(-1);
        expect(banned!.bannedUntilMs - banned!.nowMs).toBe(BAN_MS);
      });
    });
  });
}
