import { Injectable } from '@nestjs/common';
import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import type { Caller } from '../keys/caller.js';
import { Limits } from '../rate-limits/limits.js';
import { type Decision, RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import { usageSubject } from '../rate-limits/subject.js';
import { dayEndUnix, minuteEndUnix, secondsUntil } from '../time/windows.js';
import type { UsageBody } from './usage.dto.js';

/** Asking takes nothing of the quota, so it has a limit of its own, and nobody is banned for it. */
const ASKING = new Limits(60, 60 * 24 * 60);

@Injectable()
export class UsageService {
  constructor(private readonly store: RateLimitStore) {}

  /** @throws {ApiError} 429 `rate_limit_exceeded` where the client has asked too often */
  async of({ plan, scopes, quota, expiresAtMs }: Caller): Promise<UsageBody> {
    const { subject, limits } = quota;
    const asking = await this.store.take(usageSubject(subject), ASKING);
    if (!asking.admitted) throw refusalOf(asking);
    const used = await this.store.peek(subject);
    const { nowMs, bannedUntilMs } = used;
    return {
      plan,
      scopes: [...scopes],
      limits: {
        minute: windowOf(limits.perMinute, used.minuteUsed, minuteEndUnix(used.minute)),
        day: windowOf(limits.perDay, used.dayUsed, dayEndUnix(used.day)),
      },
      bannedUntil: bannedUntilMs > nowMs ? Math.ceil(bannedUntilMs / 1000) : null,
      expiresAt: expiresAtMs === Infinity ? null : Math.floor(expiresAtMs / 1000),
    };
  }
}

/** A plan may have become smaller than what was used under the one before. */
function windowOf(limit: number, used: number, resetAt: number) {
  return { limit, remaining: Math.max(0, limit - used), resetAt };
}

function refusalOf({ nowMs, minute }: Decision): ApiError {
  const seconds = secondsUntil(minuteEndUnix(minute), nowMs);
  return errors.rate_limit_exceeded(
    `The usage is told ${ASKING.perMinute} times a minute; retry after ${seconds} s`,
    { headers: { 'Retry-After': String(seconds) } },
  );
}
