import { Injectable } from '@nestjs/common';
import { KeyList } from '../core/keys/key-list.js';
import { KeyMetrics } from '../core/keys/key-metrics.js';
import { Plans } from '../core/rate-limits/plan.js';
import { Clock } from '../core/time/clock.js';
import { HOUR_MS, isoTime } from '../core/time/windows.js';
import { UsageRepository } from '../core/usage/usage.repository.js';

/** Summarises the usage of all keys. */
@Injectable()
export class UsageOverview {
  constructor(
    private readonly repository: UsageRepository,
    private readonly list: KeyList,
    private readonly metrics: KeyMetrics,
    private readonly plans: Plans,
    private readonly clock: Clock,
  ) {}

  /** @param length number of hours, the current one included */
  async of(length: number) {
    return {
      hours: await this.hours(length),
      banned: await this.list.count({ status: 'banned' }),
      expiring: await this.metrics.countExpiring(),
      nearLimit: await this.repository.findNearLimit(this.plans, this.clock.now()),
    };
  }

  private async hours(length: number) {
    const thisHour = Math.floor(this.clock.now() / HOUR_MS);
    const found = [];
    for (let hour = thisHour - length + 1; hour <= thisHour; hour++) {
      const startsAt = isoTime(hour * HOUR_MS);
      const counts = await this.repository.countByPlan(hour);
      found.push(...counts.map((count) => ({ startsAt, ...count })));
    }
    return found;
  }
}
