import { Injectable } from '@nestjs/common';
import { Events } from '../events/events.js';
import type { Quota } from '../rate-limits/limits.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import type { Decision } from '../rate-limits/stores/rate-limit-store.js';
import { ThresholdTracker } from '../rate-limits/threshold-tracker.js';

/** A client was banned, in this process. */
export interface KeyBanned {
  keyId: string;
  clientId: string;
  until: Date;
}

/** A client has used so much of what it may in a window. */
export interface QuotaThreshold {
  clientId: string;
  window: 'minute' | 'day';
  percent: 75 | 90 | 100;
}

declare module '../events/events.js' {
  interface PetStoreEvents {
    'key.banned': KeyBanned;
    'quota.threshold': QuotaThreshold;
  }
}

const PERCENTAGES = [75, 90, 100] as const;

/** Tells of bans and of quotas that run out. */
@Injectable()
export class CallerEvents {
  private readonly told = new ThresholdTracker();

  constructor(
    limiter: RateLimiter,
    private readonly events: Events,
  ) {
    limiter.onBan((ban, { caller, id }, isHere) => {
      if (caller === undefined || !isHere) return;
      const { keyId, clientId } = caller;
      events.emit('key.banned', { keyId, clientId, until: new Date(ban.until) }, id);
    });
    limiter.onScarcity((decision, quota, { caller, id }) => {
      if (caller === undefined || !events.has('quota.threshold')) return;
      this.tell(decision, quota, caller.clientId, id);
    });
  }

  private tell(
    decision: Decision,
    { subject, limits }: Quota,
    clientId: string,
    requestId: string,
  ): void {
    const { minute, minuteUsed, day, dayUsed } = decision;
    for (const [window, at, used, limit] of [
      ['minute', minute, minuteUsed, limits.perMinute],
      ['day', day, dayUsed, limits.perDay],
    ] as const) {
      const reached = PERCENTAGES.filter((percent) => used * 100 >= limit * percent);
      const percent = reached.at(-1);
      if (percent === undefined) continue;
      // Not by the client's name: a token's may be called like a key's.
      const name = `${window}:${subject}`;
      const known = this.told.markReported(name, at, percent);
      for (const each of reached) {
        if (each > known)
          this.events.emit('quota.threshold', { clientId, window, percent: each }, requestId);
      }
    }
  }
}
