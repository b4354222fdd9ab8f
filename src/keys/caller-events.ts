import { Injectable } from '@nestjs/common';
import { Events } from '../events/events.js';
import type { Quota } from '../rate-limits/limits.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import type { Decision } from '../rate-limits/stores/rate-limit-store.js';
import type { Caller } from './caller.js';

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
/** Some 100 bytes each. */
const MAX_REMEMBERED = 100_000;

/** Tells of bans and of quotas that run out. */
@Injectable()
export class CallerEvents {
  /** By window and client: the latest window, and how much of it was told of. */
  private readonly told = new Map<string, { at: number; percent: number }>();

  constructor(
    limiter: RateLimiter,
    private readonly events: Events,
  ) {
    limiter.onBan((ban, { caller }, isHere) => {
      if (caller === undefined || !isHere) return;
      const { keyId, clientId } = caller;
      events.emit('key.banned', { keyId, clientId, until: new Date(ban.until) });
    });
    limiter.onScarcity((decision, quota, { caller }) => {
      if (caller !== undefined && events.has('quota.threshold')) this.tell(decision, quota, caller);
    });
  }

  private tell(decision: Decision, { subject, limits }: Quota, { clientId }: Caller): void {
    const { minute, minuteUsed, day, dayUsed } = decision;
    for (const [window, at, used, limit] of [
      ['minute', minute, minuteUsed, limits.perMinute],
      ['day', day, dayUsed, limits.perDay],
    ] as const) {
      // Not by the client's name: a token's may be called like a key's.
      const name = `${window}:${subject}`;
      const before = this.told.get(name);
      const known = before?.at === at ? before.percent : 0;
      const reached = PERCENTAGES.filter((percent) => used * 100 >= limit * percent);
      const news = reached.filter((percent) => percent > known);
      if (news.length === 0) continue;
      if (this.told.size >= MAX_REMEMBERED) this.told.clear();
      this.told.set(name, { at, percent: news.at(-1)! });
      for (const percent of news)
        this.events.emit('quota.threshold', { clientId, window, percent });
    }
  }
}
