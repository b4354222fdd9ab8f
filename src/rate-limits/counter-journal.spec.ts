import { FakeClock } from '../../test/support/clock.js';
import type { Poller } from '../database/poller.js';
import type { Logger } from '../telemetry/logger.js';
import type { BanLedger, SubjectBan } from './ban-ledger.js';
import { CounterJournal } from './counter-journal.js';
import type { CounterLedger, SavedCount } from './counter-ledger.js';
import { Limits } from './limits.js';
import { MemoryStore } from './memory.store.js';
import { dayOf, minuteOf } from './windows.js';

const limits = new Limits(2, 100, true);

describe(CounterJournal.name, () => {
  let clock: FakeClock;
  let store: MemoryStore;
  let journal: CounterJournal;
  let saved: SavedCount[];
  let look: () => Promise<void>;
  const counters = { since: jest.fn(), save: jest.fn(), forgetBefore: jest.fn() };
  const bans = { all: jest.fn(), changedWithin: jest.fn(), record: jest.fn() };
  const logger = { warn: jest.fn(), error: jest.fn() };

  beforeEach(() => {
    jest.resetAllMocks();
    saved = [];
    counters.since.mockResolvedValue([]);
    counters.save.mockImplementation((batch: SavedCount[]) => {
      saved.push(...batch.map((count) => ({ ...count })));
      return Promise.resolve();
    });
    bans.all.mockResolvedValue([]);
    bans.record.mockResolvedValue(undefined);
    clock = new FakeClock();
    store = new MemoryStore(clock, { afterRejections: 1, firstBanMs: 10_000 });
    journal = new CounterJournal(
      store,
      counters as unknown as CounterLedger,
      bans as unknown as BanLedger,
      { watch: (watched: typeof look) => (look = watched) } as unknown as Poller,
      clock,
      logger as unknown as Logger,
    );
  });
  afterEach(() => journal.beforeApplicationShutdown());

  it('begins with the counts and bans of before', async () => {
    const [minute, day] = [minuteOf(clock.now()), dayOf(clock.now())];
    const ban = { at: clock.now(), until: clock.now() + 1_000, bans: 1 };
    counters.since.mockResolvedValue([{ subject: 'zoo', minute, minuteUsed: 2, day, dayUsed: 9 }]);
    bans.all.mockResolvedValue([{ subject: 'ark', ban }] satisfies SubjectBan[]);
    await journal.onModuleInit();
    expect(counters.since).toHaveBeenCalledWith(day, 100_000);
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

  it('keeps what could not be saved for the next time, and complains once per outage', async () => {
    await journal.onModuleInit();
    store.take('zoo', limits);
    for (let failure = 0; failure < 3; failure++) {
      counters.save.mockRejectedValueOnce(new Error('disk full'));
      await journal.save();
    }
    expect(logger.warn).toHaveBeenCalledTimes(1);
    await journal.save();
    expect(saved).toMatchObject([{ subject: 'zoo', dayUsed: 1 }]);

    store.take('zoo', limits);
    counters.save.mockRejectedValueOnce(new Error('disk full again'));
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
    for (let subject = 0; subject < 2_500; subject++) store.take(`key_${subject}`, limits);
    await journal.save();
    expect(counters.save.mock.calls.map(([batch]) => batch.length)).toEqual([1_000, 1_000, 500]);
    expect(new Set(saved.map(({ subject }) => subject)).size).toBe(2_500);
  });

  it('forgets the counts of earlier days, once a day', async () => {
    await journal.onModuleInit();
    await journal.save();
    await journal.save();
    expect(counters.forgetBefore.mock.calls).toEqual([[dayOf(clock.now())]]);
    clock.advance(86_400_000);
    await journal.save();
    expect(counters.forgetBefore).toHaveBeenLastCalledWith(dayOf(clock.now()));
  });

  it('writes a ban down at once, and says so where it cannot', async () => {
    await journal.onModuleInit();
    const ban = () => {
      for (let request = 0; request < 4; request++) store.take('zoo', limits);
    };
    ban();
    const { bannedUntilMs } = store.peek('zoo');
    expect(bans.record).toHaveBeenCalledWith('zoo', {
      at: clock.now(),
      until: bannedUntilMs,
      bans: 1,
    });
    bans.record.mockRejectedValueOnce(new Error('disk full'));
    clock.advance(60_000);
    ban();
    await Promise.resolve();
    expect(logger.error).toHaveBeenCalledWith(
      expect.objectContaining({ subject: 'zoo' }),
      expect.any(String),
    );
    expect(store.peek('zoo').bannedUntilMs).toBeGreaterThan(clock.now());
  });

  it('notices a ban that an operator has ended', async () => {
    await journal.onModuleInit();
    for (let request = 0; request < 4; request++) store.take('zoo', limits);
    const ban = store.known('zoo')!.ban!;
    bans.changedWithin.mockResolvedValue([{ subject: 'zoo', ban: { ...ban, until: 0 } }]);
    await look();
    expect(store.peek('zoo')).toMatchObject({ bannedUntilMs: 0 });
  });
});
