import { randomBytes } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { inBatches } from '../database/in-batches.js';
import { eachInOrder } from '../database/in-order.js';
import { Poller } from '../database/poller.js';
import { Logger } from '../telemetry/logger.js';
import { Clock } from '../time/clock.js';
import { dayBefore, dayOf } from '../time/windows.js';
import { BanLedger, type SubjectBan } from './bans/ban-ledger.js';
import { CounterLedger, type SavedCount } from './counter-ledger.js';
import { type CounterTable, MemoryStore } from './stores/memory.store.js';
import { RateLimitStore } from './stores/rate-limit-store.js';

/** A `kill -9` may forget the last second: half of it, and the time that saving takes. */
const SAVE_INTERVAL_MS = 500;
const BRING_INTERVAL_MS = 60_000;
/** Saving holds up the event loop; so many at once take some milliseconds. */
const SAVED_AT_ONCE = 1_000;
/** What is not brought by then is left to the next process, which reads it when it starts. */
const BRING_AT_END_MS = 1_000;

/**
 * Keeps the in-process counters in the database: a restart never refills a quota. Twice a second what has changed is
 * written down, as one entry of a journal; once a minute it is brought to a row for each subject.
 *
 * Where Redis counts, it keeps the counts as well. What it tells is gathered here all the same, and saved as
 * soon as this process counts by itself, and when it ends: a process that is started while Redis is away, or empty,
 * begins with that.
 */
@Injectable()
export class CounterJournal implements OnModuleInit, BeforeApplicationShutdown {
  private readonly writer = randomBytes(12).toString('hex');
  private sequence = 0;
  private broughtUpTo = 0;
  private timers: NodeJS.Timeout[] = [];
  private saving: Promise<void> | undefined;
  private bringing: Promise<void> | undefined;
  private tidying: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private failing = false;
  /** Whether something may be unsaved that Redis does not keep. */
  private isNeeded = false;
  /** Counts of the days before are gone from the database, or are going. */
  private tidiedDay = 0;

  constructor(
    private readonly store: MemoryStore,
    private readonly judge: RateLimitStore,
    private readonly counters: CounterLedger,
    private readonly bans: BanLedger,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    const today = dayOf(this.clock.now());
    for await (const counts of this.counters.since(today, this.store.capacity.addresses)) {
      for (const count of counts) this.store.restore(count);
    }
    this.restoreBans(await this.bans.all());
    this.timers = [
      setInterval(() => void this.look(), SAVE_INTERVAL_MS).unref(),
      setInterval(() => void this.bring(), BRING_INTERVAL_MS).unref(),
    ];
    this.poller.watch(async (sinceMs) =>
      this.restoreBans(
        await (sinceMs === undefined ? this.bans.all() : this.bans.changedSince(sinceMs)),
      ),
    );
  }

  /** Before the database is closed, which is done in the next step of a shutdown. */
  async beforeApplicationShutdown(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.stopping.abort();
    await this.saving;
    // Redis may be empty when somebody starts again.
    this.isNeeded = true;
    await this.save();
    // There is no next time for what only another node's saving has kept from being saved.
    if (this.failing) await this.save();
    await Promise.all([this.tidying, this.bringing]);
    if (!this.failing) await this.bringOwn(AbortSignal.timeout(BRING_AT_END_MS));
  }

  private async look(): Promise<void> {
    await this.save();
    if (!this.failing) await this.tidy();
  }

  /** Saves what has changed; one at a time. What cannot be saved is kept for the next time. */
  async save(): Promise<void> {
    this.saving ??= this.saveAll().finally(() => (this.saving = undefined));
    return this.saving;
  }

  private async saveAll(): Promise<void> {
    const countsHere = this.judge.mode !== 'redis';
    this.isNeeded ||= countsHere;
    if (!this.isNeeded) return;
    try {
      await this.forgetDropped();
      await this.saveUnsaved();
      this.failing = false;
      // Where Redis has returned meanwhile, the next time is the last one.
      this.isNeeded = countsHere;
    } catch (err) {
      // Said once per outage; the counts are kept, and saved when the database is back.
      if (!this.failing) {
        this.logger.warn(
          { err, counters: this.store.unsavedCount },
          'Counters cannot be saved for now',
        );
      }
      this.failing = true;
    }
  }

  /** Not what changes meanwhile: under load that would never end. */
  private async saveUnsaved(): Promise<void> {
    for (let left = this.store.unsavedCount; left > 0; left -= SAVED_AT_ONCE) {
      const batch = this.store.takeUnsaved(SAVED_AT_ONCE);
      if (batch.length > 0) await this.append(batch);
    }
  }

  private async append(batch: readonly SavedCount[]): Promise<void> {
    try {
      await this.counters.append(this.writer, this.sequence + 1, batch);
      this.store.markUnbrought(batch);
    } catch (error) {
      this.store.putBack(batch);
      throw error;
    } finally {
      // It may be there all the same: what follows must not be taken for it.
      this.sequence++;
    }
  }

  /** Of a flood of addresses the database keeps no more than memory does. */
  private async forgetDropped(): Promise<void> {
    for (let left = this.store.droppedCount; left > 0; left -= SAVED_AT_ONCE) {
      const batch = this.store.takeDropped(SAVED_AT_ONCE).sort();
      try {
        if (batch.length > 0) await this.counters.forget(batch);
      } catch (error) {
        this.store.putBackDropped(batch);
        throw error;
      }
    }
  }

  /** Brings to their rows what was written down, here and by processes that have ended; one at a time. */
  async bring(): Promise<void> {
    this.bringing ??= this.bringAll(this.stopping.signal).finally(
      () => (this.bringing = undefined),
    );
    return this.bringing;
  }

  private async bringAll(stop: AbortSignal): Promise<void> {
    await this.bringOwn(stop);
    try {
      await this.counters.journal.adopt(stop);
    } catch (err) {
      this.logger.warn({ err }, 'Counters that ended processes left could not be brought');
    }
  }

  private async bringOwn(stop: AbortSignal): Promise<void> {
    const upTo = this.sequence;
    if (upTo === this.broughtUpTo) return;
    try {
      for (const table of this.store.tables) {
        const areBrought = await eachInOrder(
          table.marked(),
          (row) => table.subjectOf(row),
          (rows) => this.bringSome(table, rows),
          stop,
        );
        if (!areBrought) return;
      }
      await this.counters.journal.drop(this.writer, upTo);
      this.broughtUpTo = upTo;
    } catch (err) {
      this.logger.warn({ err }, 'Counters could not be brought to their rows; tried again');
    }
  }

  private async bringSome(table: CounterTable, rows: readonly number[]): Promise<void> {
    const counts = this.store.takeUnbrought(table, rows);
    try {
      if (counts.length > 0) await this.counters.save(counts);
    } catch (error) {
      this.store.markUnbrought(counts);
      throw error;
    }
    this.store.noteBrought(counts);
  }

  /**
   * Addresses come and go: what they left behind is kept for the day it counts, and for one more, in case it is the
   * clock that is ahead. Saving goes on meanwhile.
   */
  async tidy(): Promise<void> {
    this.tidying ??= this.forgetEarlierDays().finally(() => (this.tidying = undefined));
    return this.tidying;
  }

  private async forgetEarlierDays(): Promise<void> {
    const oldest = dayBefore(this.clock.now());
    if (oldest === this.tidiedDay) return;
    this.tidiedDay = oldest;
    try {
      await inBatches((rows) => this.counters.forgetBefore(oldest, rows), this.stopping.signal);
    } catch (err) {
      this.tidiedDay = 0;
      this.logger.warn({ err }, 'Counters of earlier days could not be removed; tried again later');
    }
  }

  private restoreBans(bans: readonly SubjectBan[]): void {
    for (const { subject, ban } of bans) this.store.restoreBan(subject, ban);
  }
}
