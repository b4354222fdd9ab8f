import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BackgroundTasks } from '../database/background-tasks.js';
import { ChangePoller } from '../database/change-poller.js';
import { forEachBatch } from '../database/in-batches.js';
import { Clock } from '../time/clock.js';
import { dayOf, minuteOf } from '../time/windows.js';
import { BanRepository } from './bans/ban.repository.js';
import { CounterRepository } from './counter.repository.js';
import { MemoryStore } from './stores/memory.store.js';
import { RateLimitStore } from './stores/rate-limit-store.js';

/** A `kill -9` may lose one second of counts: this interval, and the time that saving takes. */
const SAVE_INTERVAL_MS = 500;
/** Of these saves, one is made while Redis counts. */
const SAVES_PER_SHARED_SAVE = 10;
const FORGET_INTERVAL_MS = 60_000;

/**
 * Keeps this process's counters in the database, so that a restart never refills a quota.
 *
 * - At start, the counters of the day are loaded. Bans are loaded and followed by polling.
 * - Every 500 ms, and at shutdown, counters that changed are written. While the database cannot be
 *   written, they stay marked as changed, which costs no memory beyond the counters themselves.
 * - While Redis counts, the counts that it returned are written every 5 s, and when Redis fails.
 *   Operators see them, and a node that starts while Redis is away begins with them.
 */
@Injectable()
export class CounterPersistence implements OnModuleInit {
  private forgottenDay = 0;
  private saves = 0;

  constructor(
    private readonly memory: MemoryStore,
    private readonly store: RateLimitStore,
    private readonly counters: CounterRepository,
    private readonly bans: BanRepository,
    private readonly poller: ChangePoller,
    private readonly clock: Clock,
    background: BackgroundTasks,
  ) {
    background.add({
      task: 'save counters',
      intervalMs: SAVE_INTERVAL_MS,
      run: (stop) => this.saveChanged(stop),
    });
    background.add({
      task: 'remove old counters',
      intervalMs: FORGET_INTERVAL_MS,
      run: (stop) => this.forgetPast(stop),
    });
  }

  async onModuleInit(): Promise<void> {
    const nowMs = this.clock.now();
    for (const count of await this.counters.since(dayOf(nowMs))) {
      // If the clock was set back, stored windows lie in the future: they would last too long.
      const minute = Math.min(count.minute, minuteOf(nowMs));
      this.memory.restore({ ...count, minute, day: dayOf(nowMs) });
    }
    this.poller.subscribe(async (sinceMs = 0) => {
      const bans = await this.bans.changedSince(sinceMs);
      for (const ban of bans) this.memory.restoreBan(ban.key, ban);
    });
  }

  private async saveChanged(stop: AbortSignal): Promise<void> {
    const isDue = stop.aborted || ++this.saves % SAVES_PER_SHARED_SAVE === 0;
    if (this.store.mode === 'shared' && !isDue) return;
    const counts = this.memory.takeChanged();
    try {
      await forEachBatch(counts, (batch) => this.counters.save(batch));
    } catch (error) {
      this.memory.putBack(counts);
      throw error;
    }
  }

  /**
   * Removes counters of past days, and addresses that the memory has forgotten, from memory and
   * database.
   */
  private async forgetPast(stop: AbortSignal): Promise<void> {
    // Yesterday is kept, because the clock of another node may be behind.
    const day = dayOf(this.clock.now()) - 1;
    const minute = this.memory.oldestAddressMinute;
    if (day !== this.forgottenDay) {
      this.memory.forgetBefore(day);
      await this.counters.forgetBefore(day, stop);
      this.forgottenDay = day;
    }
    if (minute !== undefined) await this.counters.forgetAddressesBefore(minute, stop);
  }
}
