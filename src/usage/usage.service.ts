import { Injectable } from '@nestjs/common';
import { unixSeconds } from '../input/unix-time.js';
import type { PlanLimits } from '../rate-limits/plan.js';
import { RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import { dayEndUnix, HOUR_MS, minuteEndUnix } from '../time/windows.js';
import type { Usage, UsageHistory } from './usage.dto.js';
import { append, type Refusal } from './usage.entities.js';
import { LATEST_REFUSALS, UsageReport } from './usage-report.js';

/** A key or token: a `Caller`, for one that sends a request. */
interface Holder {
  plan: string;
  scopes: Iterable<string>;
  quota: { subject: string; limits: PlanLimits };
  /** Unix milliseconds; Infinity if it does not expire. */
  expiresAtMs: number;
}

@Injectable()
export class UsageService {
  constructor(
    private readonly store: RateLimitStore,
    private readonly report: UsageReport,
  ) {}

  /** The keys of the client are not told apart. */
  async history(clientId: string, length: number): Promise<UsageHistory> {
    const { used, refusals } = await this.report.load(clientId, length);
    const hours = new Map<number, Record<string, number>>();
    for (const { hour, code, used: requests } of used) {
      const codes = hours.get(hour) ?? {};
      codes[code || 'ok'] = (codes[code || 'ok'] ?? 0) + requests;
      hours.set(hour, codes);
    }
    const groups = refusals.reduceRight<Refusal[]>((joined, refusal) => {
      return append(joined, { ...refusal, keyId: undefined });
    }, []);
    const latest = groups.slice(-LATEST_REFUSALS).reverse();
    return {
      hours: Array.from(hours, ([hour, codes]) => {
        return { startsAt: unixSeconds(hour * HOUR_MS), codes };
      }),
      rejected: latest.map(({ at, firstAt, ...rest }) => {
        return { at: unixSeconds(at), firstAt: unixSeconds(firstAt), ...rest };
      }),
    };
  }

  async of({ plan, scopes, quota, expiresAtMs }: Holder): Promise<Usage> {
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
