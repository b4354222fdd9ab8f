import { Injectable } from '@nestjs/common';
import { forEachBatch } from '../core/database/in-batches.js';
import { KeyList } from '../core/keys/key-list.js';
import { KeyMetrics } from '../core/keys/key-metrics.js';
import { Plans } from '../core/rate-limits/plan.js';
import { Clock } from '../core/time/clock.js';
import { dayOf, HOUR_MS, isoTime } from '../core/time/windows.js';
import { UsageRepository } from '../core/usage/usage.repository.js';
import { UsageService } from '../core/usage/usage.service.js';

/** Share of a limit that is left when a client is near it. */
const NEAR = 0.2;
const HOURS_PER_DAY = 24;

/** Summarises the usage of all keys. */
@Injectable()
export class UsageOverview {
  constructor(
    private readonly repository: UsageRepository,
    private readonly list: KeyList,
    private readonly metrics: KeyMetrics,
    private readonly usage: UsageService,
    private readonly plans: Plans,
    private readonly clock: Clock,
  ) {}

  /** @param length number of hours, the current one included */
  async of(length: number) {
    return {
      hours: await this.hours(length),
      banned: await this.list.count({ status: 'banned' }),
      nearLimit: await this.countNearLimit(),
      expiring: await this.metrics.countExpiring(),
    };
  }

  /** One query per hour, so that requests are served in between. */
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

  /** Counts the keys whose client has used more than 80 % of its minute or day. */
  private async countNearLimit(): Promise<number> {
    const nowMs = this.clock.now();
    const clients = await this.repository.clientsSince(dayOf(nowMs) * HOURS_PER_DAY, nowMs);
    let near = 0;
    await forEachBatch(clients, async (batch) => {
      await Promise.all(
        batch.map(async (client) => {
          const quota = { key: client.clientId, limits: this.plans.limitsOf(client) };
          const holder = { plan: client.plan, scopes: [], quota, expiresAtMs: Infinity };
          const { minute, day } = (await this.usage.of(holder)).limits;
          const isNear = [minute, day].some(({ limit, remaining }) => remaining < limit * NEAR);
          if (isNear) near += client.keys;
        }),
      );
    });
    return near;
  }
}
