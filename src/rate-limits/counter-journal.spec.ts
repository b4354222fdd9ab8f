import { FakeClock } from '../../test/support/clock.js';
import type { Look, Poller } from '../database/poller.js';
import type { Logger } from '../telemetry/logger.js';
import { DAY_MS, dayOf, minuteOf } from '../time/windows.js';
import type { BanLedger, SubjectBan } from './bans/ban-ledger.js';
import { CounterJournal } from './counter-journal.js';
import type { CounterLedger, SavedCount } from './counter-ledger.js';
import { Limits } from './limits.js';
import { addressSubject } from './subject.js';
import { MemoryStore } from './stores/memory.store.js';
import type { RateLimitStore } from './stores/rate-limit-store.js';

const limits = new Limits(2, 100);
const CAPACITY = { clients: 10_000, addresses: 32 };

describe(CounterJournal.name, () => {
  let clock: FakeClock;
  let store: MemoryStore;
  let journal: CounterJournal;
  let saved: SavedCount[];
  let look: Look;
  const judge: { mode: RateLimitStore['mode'] } = { mode: 'memory' };
  const counters = {
    since: jest.fn(),
    append: jest.fn(),
    save: jest.fn(),
    journal: { drop: jest.fn(), adopt: jest.fn() },
    forget: jest.fn(),
    forgetBefore: jest.fn(),
  };
  const bans = { all: jest.fn(), changedSince: jest.fn() };
  const logger = { warn: jest.fn(), error: jest.fn() };

  beforeEach(() => {
    jest.resetAllMocks();
    saved = [];
    judge.mode = 'memory';
    counters.since.mockReturnValue([]);
    counters.append.mockImplementation((_writer, _sequence, batch: SavedCount[]) => {
      saved.push(...batch.map((count) => ({ ...count })));
      return Promise.resolve();
    });
    bans.all.mockResolvedValue([]);
    clock = new FakeClock();
    counters.forgetBefore.mockResolvedValue(0);
    store = new MemoryStore(clock, { afterRejections: 1, firstBanMs: 10_000 }, undefined, CAPACITY);
    journal = new CounterJournal(
      store,
      judge as RateLimitStore,
      counters as unknown as CounterLedger,
      bans as unknown as BanLedger,
      { watch: (watched: Look) => (look = watched) } as unknown as Poller,
      clock,
      logger as unknown as Logger,
    );
  });
  afterEach(() => journal.beforeApplicationShutdown());

  it('begins with the counts and bans of before', async () => {
    const [minute, day] = [minuteOf(clock.now()), dayOf(clock.now())];
    const ban = { at: clock.now(), until: clock.now() + 1_000, bans: 1 };
    counters.since.mockReturnValue([[{ subject: 'zoo', minute, minuteUsed: 2, day, dayUsed: 9 }]]);
    bans.all.mockResolvedValue([{ subject: 'ark', ban }] satisfies SubjectBan[]);
    await journal.onModuleInit();
    expect(counters.since).toHaveBeenCalledWith(day, CAPACITY.addresses);
    expect(store.take('zoo', limits)).toMatchObject({ admitted: false, dayUsed: 9 });
    expect(store.take('ark', limits).bannedUntilMs).toBe(ban.until);
  });

  it('saves what has changed since it last did, and nothing twice', async () => {
    await journal.onModuleInit();
    store.take('zoo', limits);
    await journal.save();
    await journal.save();
    expect(saved).toMatchObject([{ subject: 'zoo', dayUsed: 1 }]);
    store.take('zoo', limits);
    await journal.save();
    expect(saved.slice(1)).toMatchObject([{ subject: 'zoo', dayUsed: 2 }]);
  });

  it('saves by itself, within less than the second that a kill -9 may cost', async () => {
    jest.useFakeTimers();
    try {
      await journal.onModuleInit();
      store.take('zoo', limits);
      await jest.advanceTimersByTimeAsync(700);
      expect(saved).toMatchObject([{ subject: 'zoo', dayUsed: 1 }]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('keeps what could not be saved for the next time, and complains once per outage', async () => {
    await journal.onModuleInit();
    store.take('zoo', limits);
    for (let failure = 0; failure < 3; failure++) {
      counters.append.mockRejectedValueOnce(new Error('disk full'));
      await journal.save();
    }
    expect(logger.warn).toHaveBeenCalledTimes(1);
    await journal.save();
    expect(saved).toMatchObject([{ subject: 'zoo', dayUsed: 1 }]);

    store.take('zoo', limits);
    counters.append.mockRejectedValueOnce(new Error('disk full again'));
    await journal.save();
    expect(logger.warn).toHaveBeenCalledTimes(2);
  });

  it('counts on while it saves, and saves the rest before the database is closed', async () => {
    await journal.onModuleInit();
    store.take('zoo', limits);
    const saving = journal.save();
    store.take('zoo', limits);
    await journal.beforeApplicationShutdown();
    await saving;
    expect(saved.at(-1)).toMatchObject({ subject: 'zoo', dayUsed: 2 });
  });

  it('saves many in batches', async () => {
    await journal.onModuleInit();
    for (let subject = 0; subject < 9_000; subject++) store.take(`key_${subject}`, limits);
    await journal.save();
    const entries = counters.append.mock.calls as [string, number, SavedCount[]][];
    const told = Array.from({ length: 9 }, (_none, entry) => [entry + 1, 1_000]);
    expect(entries.map(([, sequence, { length }]) => [sequence, length])).toEqual(told);
    expect(new Set(saved.map(({ subject }) => subject)).size).toBe(9_000);
  });

  describe('brings to rows', () => {
    let rows: SavedCount[];
    beforeEach(async () => {
      rows = [];
      counters.save.mockImplementation((batch: SavedCount[]) => {
        rows.push(...batch);
        return Promise.resolve();
      });
      await journal.onModuleInit();
    });
    const use = async (...subjects: string[]) => {
      for (const subject of subjects) store.take(subject, limits);
      await journal.save();
    };
    const brought = () => rows.splice(0).map(({ subject, dayUsed }) => [subject, dayUsed]);

    it('what was written down, once, in one order, whoever came first', async () => {
      await use('zoo', 'ark', 'owl', 'Zoo');
      await use('owl');
      await journal.bring();
      expect(brought()).toEqual([
        ['Zoo', 1],
        ['ark', 1],
        ['owl', 2],
        ['zoo', 1],
      ]);
      const [[writer]] = counters.append.mock.calls as [[string]];
      expect(counters.journal.drop.mock.calls).toEqual([[writer, 2]]);
      await journal.bring();
      expect(brought()).toEqual([]);
      expect(counters.journal.drop).toHaveBeenCalledTimes(1);
      await use('ark');
      await journal.bring();
      expect(brought()).toEqual([['ark', 2]]);
      expect(counters.journal.drop).toHaveBeenLastCalledWith(writer, 3);
    });

    it('the next time what is written down meanwhile, and keeps it in the journal until then', async () => {
      await use('zoo');
      counters.save.mockImplementationOnce(async (batch: SavedCount[]) => {
        rows.push(...batch);
        await use('zoo');
      });
      await journal.bring();
      expect(brought()).toEqual([['zoo', 1]]);
      expect(counters.journal.drop).toHaveBeenLastCalledWith(expect.any(String), 1);
      await journal.bring();
      expect(brought()).toEqual([['zoo', 2]]);
      expect(counters.journal.drop).toHaveBeenLastCalledWith(expect.any(String), 2);
    });

    it('later what could not be brought, and drops nothing before', async () => {
      await use('zoo', 'ark');
      counters.save.mockRejectedValueOnce(new Error('away'));
      await journal.bring();
      expect(counters.journal.drop).not.toHaveBeenCalled();
      expect(logger.warn).toHaveBeenCalledTimes(1);
      await journal.bring();
      expect(brought()).toEqual([
        ['ark', 1],
        ['zoo', 1],
      ]);
      expect(counters.journal.drop).toHaveBeenCalledTimes(1);
    });

    it('nothing that was not written down for sure', async () => {
      counters.append.mockRejectedValueOnce(new Error('away'));
      await use('zoo');
      await journal.bring();
      expect(brought()).toEqual([]);
    });

    it('what ended processes have left, and its own before the database is closed', async () => {
      await journal.bring();
      expect(counters.journal.adopt).toHaveBeenCalledTimes(1);
      store.take('zoo', limits);
      await journal.beforeApplicationShutdown();
      expect(brought()).toEqual([['zoo', 1]]);
      expect(counters.journal.adopt).toHaveBeenCalledTimes(1);
    });

    it.each([
      ['all that it has time for', () => new AbortController().signal, true],
      ['nothing more where there is no time', () => AbortSignal.abort(), false],
    ])('at the end %s, and saves before', async (_name, atEnd, isAll) => {
      await use(...Array.from({ length: 3_000 }, (_none, key) => `key_${key}`));
      const bringing = journal.bring();
      while (rows.length === 0) await new Promise((resolve) => setImmediate(resolve));
      store.take('late', limits);
      const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(atEnd());
      await journal.beforeApplicationShutdown();
      await bringing;
      timeout.mockRestore();
      expect(saved.at(-1)).toMatchObject({ subject: 'late' });
      expect(brought().length >= 3_000).toBe(isAll);
      expect(counters.journal.drop).toHaveBeenCalledTimes(isAll ? 1 : 0);
    });

    it('ends an adoption that is under way with the process, and saves before', async () => {
      let isUnderWay = false;
      counters.journal.adopt.mockImplementation((stop: AbortSignal) => {
        isUnderWay = true;
        return new Promise((resolve) => stop.addEventListener('abort', resolve));
      });
      void journal.bring();
      while (!isUnderWay) await new Promise((resolve) => setImmediate(resolve));
      store.take('zoo', limits);
      await journal.beforeApplicationShutdown();
      expect(saved).toMatchObject([{ subject: 'zoo' }]);
      expect(brought()).toEqual([['zoo', 1]]);
    });
  });

  it('tries once more to save before the database is closed', async () => {
    await journal.onModuleInit();
    store.take('zoo', limits);
    counters.append.mockRejectedValueOnce(new Error('deadlock detected'));
    await journal.beforeApplicationShutdown();
    expect(saved).toMatchObject([{ subject: 'zoo', dayUsed: 1 }]);
  });

  it('keeps no more for later than the store has room for, though nothing can be saved', async () => {
    await journal.onModuleInit();
    counters.append.mockRejectedValue(new Error('disk full'));
    for (let flood = 0; flood < 10; flood++) {
      const saving = journal.save();
      // Some are pushed out while they are on their way.
      for (let host = 0; host < 64; host++) {
        store.take(addressSubject(`192.0.${flood}.${host}`), limits);
      }
      await saving;
    }
    counters.append.mockImplementation((_writer, _sequence, batch: SavedCount[]) => {
      saved.push(...batch);
      return Promise.resolve();
    });
    await journal.save();
    expect(saved.length).toBeLessThanOrEqual(CAPACITY.addresses);
    expect(saved.at(-1)).toMatchObject({ subject: 'ip:192.0.9.63' });
  });

  it('has the database keep no more addresses than the store, however many come and are saved', async () => {
    await journal.onModuleInit();
    const rows = new Set<string>();
    counters.save.mockImplementation((batch: SavedCount[]) => {
      for (const { subject } of batch) rows.add(subject);
      return Promise.resolve();
    });
    counters.forget.mockImplementation((subjects: string[]) => {
      expect(subjects).toEqual([...subjects].sort());
      for (const subject of subjects) rows.delete(subject);
      return Promise.resolve();
    });
    for (let flood = 0; flood < 20; flood++) {
      for (let host = 0; host < 16; host++) {
        store.take(addressSubject(`192.0.${flood}.${host}`), limits);
      }
      // What cannot be removed is removed the next time.
      if (flood % 3 === 1) counters.forget.mockRejectedValueOnce(new Error('away'));
      await journal.save();
      await journal.bring();
    }
    await journal.save();
    await journal.bring();
    expect(saved.length).toBeGreaterThan(0);
    expect(rows.size).toBeLessThanOrEqual(CAPACITY.addresses);
    for (const subject of rows) expect(store.known(subject)).toBeDefined();
    expect(rows).toContain('ip:192.0.19.15');
  });

  describe('where Redis counts', () => {
    const told = (dayUsed: number, subject = 'zoo'): SavedCount => {
      const [minute, day] = [minuteOf(clock.now()), dayOf(clock.now())];
      return { subject, minute, minuteUsed: dayUsed, day, dayUsed };
    };
    beforeEach(async () => {
      judge.mode = 'redis';
      await journal.onModuleInit();
    });

    it('saves nothing while Redis does', async () => {
      store.mirror(told(100), limits);
      await journal.save();
      expect(saved).toEqual([]);
    });

    it('saves what Redis has told when it ends, for Redis may be empty when somebody starts again', async () => {
      store.mirror(told(100), limits);
      await journal.beforeApplicationShutdown();
      expect(saved).toMatchObject([{ subject: 'zoo', dayUsed: 100 }]);
    });

    it('saves what Redis has told as soon as it is lost, of whoever asks for nothing meanwhile', async () => {
      store.mirror(told(100), limits);
      store.mirror(told(99), limits);
      store.mirror(told(7, 'ark'), limits);
      judge.mode = 'fallback';
      await journal.save();
      await journal.save();
      expect(saved.map(({ subject, dayUsed }) => [subject, dayUsed])).toEqual([
        ['zoo', 100],
        ['ark', 7],
      ]);
    });

    it('saves nothing of a day that is long over', async () => {
      store.mirror(told(100, 'long ago'), limits);
      clock.advance(2 * DAY_MS);
      store.mirror(told(7, 'today'), limits);
      judge.mode = 'fallback';
      await journal.save();
      expect(saved).toMatchObject([{ subject: 'today' }]);
      judge.mode = 'redis';
      await journal.save();
      store.mirror(told(8, 'long ago'), limits);
      judge.mode = 'fallback';
      await journal.save();
      expect(saved.slice(1)).toMatchObject([{ subject: 'long ago', dayUsed: 8 }]);
    });

    it('saves once what changes while those of a day long over are passed over', async () => {
      for (let key = 0; key < 5_000; key++) store.mirror(told(1, `key_${key}`), limits);
      clock.advance(2 * DAY_MS);
      judge.mode = 'fallback';
      store.take('zoo', limits);
      counters.append.mockImplementation((_writer, _sequence, batch: SavedCount[]) => {
        saved.push(...batch);
        store.take('zoo', limits);
        return Promise.resolve();
      });
      await journal.save();
      expect(saved).toMatchObject([{ subject: 'zoo', dayUsed: 1 }]);
    });

    it('saves what was counted here last when Redis is back', async () => {
      judge.mode = 'fallback';
      await journal.save();
      store.take('zoo', limits);
      judge.mode = 'redis';
      counters.append.mockRejectedValueOnce(new Error('disk full'));
      await journal.save();
      await journal.save();
      expect(saved).toMatchObject([{ subject: 'zoo', dayUsed: 1 }]);
      store.mirror(told(2), limits);
      await journal.save();
      expect(saved).toHaveLength(1);
    });
  });

  it('forgets the counts of the days before yesterday, once a day', async () => {
    await journal.onModuleInit();
    await journal.tidy();
    await journal.tidy();
    const today = dayOf(clock.now());
    expect(counters.forgetBefore.mock.calls).toEqual([[today - 1, expect.any(Number)]]);
    clock.advance(DAY_MS);
    await journal.tidy();
    expect(counters.forgetBefore).toHaveBeenLastCalledWith(today, expect.any(Number));
  });

  it('loses nothing of today to a moment in which the clock is a day ahead', async () => {
    await journal.onModuleInit();
    const today = dayOf(clock.now());
    store.take('zoo', limits);
    clock.advance(DAY_MS);
    await journal.save();
    await journal.tidy();
    clock.advance(-DAY_MS);
    expect(saved).toMatchObject([{ subject: 'zoo', day: today, dayUsed: 1 }]);
    for (const [day] of counters.forgetBefore.mock.calls) expect(day).toBeLessThanOrEqual(today);
  });

  it('forgets in batches, saves meanwhile, and tries again where it fails', async () => {
    await journal.onModuleInit();
    let forget: (rows: number) => void = () => undefined;
    const batch = new Promise<number>((resolve) => (forget = resolve));
    counters.forgetBefore.mockReturnValueOnce(batch);
    const tidying = journal.tidy();
    store.take('zoo', limits);
    await journal.save();
    expect(saved).toMatchObject([{ subject: 'zoo' }]);
    const [[, rows]] = counters.forgetBefore.mock.calls as [[number, number]];
    counters.forgetBefore.mockRejectedValueOnce(new Error('away'));
    forget(rows);
    await tidying;
    expect(counters.forgetBefore).toHaveBeenCalledTimes(2);
    expect(logger.warn).toHaveBeenCalledTimes(1);
    await journal.tidy();
    expect(counters.forgetBefore).toHaveBeenCalledTimes(3);
  });

  it('notices a ban that an operator has ended', async () => {
    await journal.onModuleInit();
    for (let request = 0; request < 4; request++) store.take('zoo', limits);
    const ban = store.known('zoo')!.ban!;
    bans.changedSince.mockResolvedValue([{ subject: 'zoo', ban: { ...ban, until: 0 } }]);
    await look(7);
    expect(bans.changedSince).toHaveBeenCalledWith(7);
    expect(store.peek('zoo')).toMatchObject({ bannedUntilMs: 0 });
  });

  it('notices it after any time in which it could not look', async () => {
    await journal.onModuleInit();
    for (let request = 0; request < 4; request++) store.take('zoo', limits);
    const ban = store.known('zoo')!.ban!;
    bans.all.mockResolvedValue([{ subject: 'zoo', ban: { ...ban, until: 0 } }]);
    await look(undefined);
    expect(store.peek('zoo')).toMatchObject({ bannedUntilMs: 0 });
  });
});
