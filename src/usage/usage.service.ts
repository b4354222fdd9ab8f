import { Injectable } from '@nestjs/common';
import { unixSeconds } from '../input/unix-time.js';
import type { Caller } from '../keys/caller.js';
import { RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import { dayEndUnix, HOUR_MS, minuteEndUnix } from '../time/windows.js';
import type { UsageBody, UsageHistoryBody } from './usage.dto.js';
import { UsageReport } from './usage-report.js';

@Injectable()
export class UsageService {
  constructor(
    private readonly store: RateLimitStore,
    private readonly report: UsageReport,
  ) {}

  async history({ quota }: Caller, length: number): Promise<UsageHistoryBody> {
    const { hours, refusals } = await this.report.history(quota.subject, length);
    return {
      hours: hours.map(({ hour, codes }) => ({ startsAt: unixSeconds(hour * HOUR_MS), codes })),
      rejected: refusals.map(({ at, firstAt, ...rest }) => {
        return { at: unixSeconds(at), firstAt: unixSeconds(firstAt), ...rest };
      }),
    };
  }

  async of({ plan, scopes, quota, expiresAtMs }: Caller): Promise<UsageBody> {
    const { subject, limits } = quota;
    const used = await this.store.peek(subject);
    const { nowMs, aheadMs = 0, bannedUntilMs } = used;
    const wallClock = (unixSeconds: number): number => Math.ceil(unixSeconds - aheadMs / 1000);
    return {
      plan,
      scopes: [...scopes],
      limits: {
        minute: windowOf(limits.perMinute, used.minuteUsed, wallClock(minuteEndUnix(used.minute))),
        day: windowOf(limits.perDay, used.dayUsed, wallClock(dayEndUnix(used.day))),
      },
      bannedUntil: bannedUntilMs > nowMs ? wallClock(bannedUntilMs / 1000) : null,
      expiresAt: expiresAtMs === Infinity ? null : unixSeconds(expiresAtMs),
    };
  }
}

/** More than the limit may be used already, after a change to a smaller plan. */
function windowOf(limit: number, used: number, resetAt: number) {
  return { limit, remaining: Math.max(0, limit - used), resetAt };
}
