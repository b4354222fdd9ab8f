import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { forEachBatch } from '../database/in-batches.js';
import { ChangePoller } from '../database/change-poller.js';
import { Logger } from '../telemetry/logger.js';
import { Clock } from '../time/clock.js';
import { dayOf } from '../time/windows.js';
import { BanRepository } from './bans/ban.repository.js';
import { CounterRepository } from './counter.repository.js';
import { MemoryStore } from './stores/memory.store.js';
import { RateLimitStore } from './stores/rate-limit-store.js';

/** A `kill -9` may lose one second of counts: this interval, and the time that saving takes. */
const SAVE_INTERVAL_MS = 500;
const FORGET_INTERVAL_MS = 60_000;

/**
 * Keeps the counters of this process in the database, so that a restart never refills a quota.
 *
 * - At start, the counters of the day are loaded. Bans are loaded and followed by polling.
 * - Every 500 ms, and at shutdown, counters that changed are written. While the database cannot be
 *   written, they stay marked as changed, which costs no memory beyond the counters themselves.
 * - While Redis counts, its counts are only collected here. They are written when Redis fails and
 *   at shutdown, so that a node that starts while Redis is away begins with them.
 */
@Injectable()
export class CounterPersistence implements OnModuleInit, BeforeApplicationShutdown {
  private timers: NodeJS.Timeout[] = [];
  private saving: Promise<void> | undefined;
  private forgetting: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private isFailing = false;
  private forgottenDay = 0;

  constructor(
    private readonly memory: MemoryStore,
    private readonly store: RateLimitStore,
    private readonly counters: CounterRepository,
    private readonly bans: BanRepository,
    private readonly poller: ChangePoller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    for (const count of await this.counters.since(dayOf(this.clock.now()))) {
      this.memory.restore(count);
    }
    this.poller.subscribe(async (sinceMs = 0) => {
      const bans = await this.bans.changedSince(sinceMs);
      for (const ban of bans) this.memory.restoreBan(ban.subject, ban);
    });
    this.timers = [
      setInterval(() => {
        if (this.store.mode !== 'redis') void this.save();
      }, SAVE_INTERVAL_MS).unref(),
      setInterval(() => void this.forget(), FORGET_INTERVAL_MS).unref(),
    ];
  }

  /** The database is closed in the next phase of the shutdown. */
  async beforeApplicationShutdown(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.stopping.abort();
    await Promise.all([this.saving, this.forgetting]);
    await this.save();
  }

  /** Writes the counters that have changed, unless that is in progress. */
  save(): Promise<void> {
    return (this.saving ??= this.saveChanged().finally(() => (this.saving = undefined)));
  }

  private async saveChanged(): Promise<void> {
    const counts = this.memory.takeChanged();
    try {
      await forEachBatch(counts, (batch) => this.counters.save(batch));
      this.isFailing = false;
    } catch (err) {
      this.memory.putBack(counts);
      const message = 'Counters cannot be saved; the service retries';
      if (!this.isFailing) this.logger.warn({ err, counters: counts.length }, message);
      this.isFailing = true;
    }
  }

  /**
   * Removes counters of past days, and addresses that the memory has forgotten, from memory and
   * database.
   */
  forget(): Promise<void> {
    return (this.forgetting ??= this.forgetPast().finally(() => (this.forgetting = undefined)));
  }

  private async forgetPast(): Promise<void> {
    // Yesterday is kept, because the clock of another node may be behind.
    const day = dayOf(this.clock.now()) - 1;
    const minute = this.memory.oldestAddressMinute;
    const { signal } = this.stopping;
    try {
      if (day !== this.forgottenDay) {
        this.memory.forgetBefore(day);
        await this.counters.forgetBefore(day, signal);
        this.forgottenDay = day;
      }
      if (minute !== undefined) await this.counters.forgetAddressesBefore(minute, signal);
    } catch (err) {
      this.logger.warn({ err }, 'Old counters cannot be removed; the service retries');
    }
  }
}
