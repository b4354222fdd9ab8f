import { Injectable } from '@nestjs/common';
import { isoTime } from '../keys/audit-record.entity.js';
import type { Limits } from '../rate-limits/limits.js';
import { RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import { Clock } from '../time/clock.js';
import { dayEndUnix, HOUR_MS, minuteEndUnix, unixSeconds } from '../time/windows.js';
import type { Usage, UsageHistory } from './usage.dto.js';
import { append, KEPT_MS, type Refusal, type UsageHour } from './usage.entities.js';
import { UsageRepository } from './usage.repository.js';

/** Groups of rejected requests that are shown of each client. */
const LATEST_REFUSALS = 10;
const HOURS = 24;

/** Requests by error code; `ok` for those without an error. */
type Codes = Record<string, number>;

/** A key or token: a `Caller`, for one that sends a request. */
interface Holder {
  plan: string;
  scopes: Iterable<string>;
  quota: { key: string; limits: Limits };
  /** Unix milliseconds; Infinity if it does not expire. */
  expiresAtMs: number;
}

/** Reports the recorded usage of a client, up to some ten seconds ago, and its quota. */
@Injectable()
export class UsageService {
  constructor(
    private readonly repository: UsageRepository,
    private readonly store: RateLimitStore,
    private readonly clock: Clock,
  ) {}

  /**
   * The requests of the last 24 hours by code, the current hour included; and the latest rejected
   * requests, the latest first. Times are ISO 8601.
   */
  async report(clientId: string) {
    const { used, refusals } = await this.load(clientId, HOURS);
    return {
      outcomes: used.reduce<Codes>(addTo, {}),
      refusals: refusals.slice(0, LATEST_REFUSALS).map(({ at, firstAt, ...refusal }) => {
        return { at: isoTime(at)!, firstAt: isoTime(firstAt)!, ...refusal };
      }),
    };
  }

  /** The keys of the client are not told apart. */
  async history(clientId: string, length: number): Promise<UsageHistory> {
    const { used, refusals } = await this.load(clientId, length);
    const hours = new Map<number, Codes>();
    for (const each of used) hours.set(each.hour, addTo(hours.get(each.hour) ?? {}, each));
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
    const { key, limits } = quota;
    const used = await this.store.peek(key);
    const { nowMs, bannedUntilMs } = used;
    return {
      plan,
      scopes: [...scopes],
      limits: {
        minute: windowOf(limits.perMinute, used.minuteUsed, minuteEndUnix(used.minute)),
        day: windowOf(limits.perDay, used.dayUsed, dayEndUnix(used.day)),
      },
      bannedUntil: bannedUntilMs > nowMs ? Math.ceil(bannedUntilMs / 1000) : null,
      expiresAt: expiresAtMs === Infinity ? null : unixSeconds(expiresAtMs),
    };
  }

  /** @param hours number of hours, the current one included */
  private async load(clientId: string, hours: number) {
    const nowMs = this.clock.now();
    const thisHour = Math.floor(nowMs / HOUR_MS);
    const numbers = Array.from({ length: hours }, (_, index) => thisHour - index);
    return {
      used: await this.repository.find(clientId, numbers),
      refusals: await this.repository.findRefusals(clientId, nowMs - KEPT_MS),
    };
  }
}

function addTo(codes: Codes, { code, used }: UsageHour): Codes {
  const name = code || 'ok';
  codes[name] = (codes[name] ?? 0) + used;
  return codes;
}

/** More than the limit may be used already, after a change to a smaller plan. */
function windowOf(limit: number, used: number, resetAt: number) {
  return { limit, remaining: Math.max(0, limit - used), resetAt };
}
