import { Injectable } from '@nestjs/common';
import type { Caller } from '../keys/caller.js';
import { assertLimits } from '../rate-limits/plan.js';
import { RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import { Clock } from '../time/clock.js';
import { dayEndUnix, HOUR_MS, isoTime, minuteEndUnix } from '../time/windows.js';
import { KEPT_MS } from './usage.entities.js';
import { UsageRepository } from './usage.repository.js';

/** Reported groups of rejected requests per client. */
const LATEST_GROUPS = 10;

/** A key or token: a `Caller`, for one that sends a request. */
type Holder = Pick<Caller, 'plan' | 'quota' | 'expiresAtMs'> & { scopes: Iterable<string> };

/** Reports the recorded usage of a client, up to some ten seconds ago, and its quota. */
@Injectable()
export class UsageService {
  constructor(
    private readonly repository: UsageRepository,
    private readonly store: RateLimitStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the requests of a client by hour and its latest ten groups of rejected requests, newest
   * first, of all its keys. A group has the key of its latest request.
   * @param length number of hours, the current one included
   */
  async history(clientId: string, length: number) {
    const thisHour = Math.floor(this.clock.now() / HOUR_MS);
    const numbers = Array.from({ length }, (_, index) => thisHour - index);
    const hours = new Map<number, Record<string, number>>();
    for (const { hour, code, used } of await this.repository.find(clientId, numbers)) {
      const codes = hours.get(hour) ?? {};
      const name = code || 'ok';
      codes[name] = (codes[name] ?? 0) + used;
      hours.set(hour, codes);
    }
    return {
      hours: Array.from(hours, ([hour, codes]) => ({ startsAt: isoTime(hour * HOUR_MS), codes })),
      rejected: await this.rejected(clientId),
    };
  }

  private async rejected(clientId: string) {
    const sinceMs = this.clock.now() - KEPT_MS;
    const found = await this.repository.findRejected(clientId, sinceMs, LATEST_GROUPS);
    return found.map(({ at, firstAt, count, code, operation, address, window, keyId }) => {
      const times = { at: isoTime(at), firstAt: isoTime(firstAt) };
      return { ...times, count, code, operation, address, window: window || null, keyId };
    });
  }

  /** @throws {ApiError} 503 if this server does not know the plan of the key */
  async of({ plan, scopes, quota, expiresAtMs }: Holder) {
    const { key, limits } = quota;
    assertLimits(limits, plan);
    const used = await this.store.peek(key);
    const { nowMs, bannedUntilMs } = used;
    return {
      plan,
      scopes: [...scopes],
      limits: {
        minute: windowOf(limits.perMinute, used.minuteUsed, minuteEndUnix(used.minute)),
        day: windowOf(limits.perDay, used.dayUsed, dayEndUnix(used.day)),
      },
      bannedUntil: bannedUntilMs > nowMs ? isoTime(bannedUntilMs) : null,
      expiresAt: expiresAtMs === Infinity ? null : isoTime(expiresAtMs),
    };
  }
}

/** More than the limit may be used already, after a change to a smaller plan. */
function windowOf(limit: number, used: number, resetUnix: number) {
  return { limit, remaining: Math.max(0, limit - used), resetAt: isoTime(resetUnix * 1000) };
}
