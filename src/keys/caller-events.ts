import { Injectable } from '@nestjs/common';
import { Events } from '../events/events.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import { ThresholdTracker } from '../rate-limits/threshold-tracker.js';

/** A client was banned, by a request that this process refused. */
export interface KeyBanned {
  keyId: string;
  clientId: string;
  until: Date;
}

/** A client has used this share of its quota in a window. */
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

const THRESHOLDS = [75, 90, 100] as const;

/** Emits the events `key.banned` and `quota.threshold`, the latter once per window and node. */
@Injectable()
export class CallerEvents {
  private readonly tracker = new ThresholdTracker();

  constructor(limiter: RateLimiter, events: Events) {
    limiter.onBan((ban, { caller, id }) => {
      if (caller === undefined) return;
      const { keyId, clientId } = caller;
      events.emit('key.banned', { keyId, clientId, until: new Date(ban.until) }, id);
    });
    limiter.onQuotaThreshold((decision, { subject, limits }, { caller, id }) => {
      if (caller === undefined || !events.has('quota.threshold')) return;
      const { clientId } = caller;
      const { minute, minuteUsed, day, dayUsed } = decision;
      for (const [window, number, used, limit] of [
        ['minute', minute, minuteUsed, limits.perMinute],
        ['day', day, dayUsed, limits.perDay],
      ] as const) {
        const reached = THRESHOLDS.filter((percent) => used * 100 >= limit * percent);
        // By subject: an external client may have the client id of a key.
        const name = `${window}:${subject}`;
        const known = this.tracker.markReported(name, number, reached.at(-1) ?? 0);
        for (const percent of reached) {
          if (percent > known) events.emit('quota.threshold', { clientId, window, percent }, id);
        }
      }
    });
  }
}
