import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Events } from '../events/events.js';
import type { ApiRequest } from '../http/request-context.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';

/** Percentages. `RateLimiter` reports decisions from the first one on. */
const THRESHOLDS = [75, 90, 100] as const;

/** A client has used this share of its quota in a window. */
export interface QuotaThreshold {
  clientId: string;
  window: 'minute' | 'day';
  percent: (typeof THRESHOLDS)[number];
}

declare module '../events/events.js' {
  interface PetStoreEvents {
    'quota.threshold': QuotaThreshold;
  }
}

/** Emits the event `quota.threshold`, once per window and node. */
@Injectable()
export class QuotaEvents {
  private readonly emitted = new LRUCache<string, true>({ max: 100_000 });

  constructor(
    limiter: RateLimiter,
    private readonly events: Events,
  ) {
    limiter.onDecision((decision, { limits }, request) => {
      if (!decision.admitted) return;
      this.check('minute', decision.minute, decision.minuteUsed / limits.perMinute, request);
      this.check('day', decision.day, decision.dayUsed / limits.perDay, request);
    });
  }

  private check(
    window: QuotaThreshold['window'],
    number: number,
    share: number,
    { caller, id }: ApiRequest,
  ): void {
    if (caller === undefined || !this.events.has('quota.threshold')) return;
    const { clientId, quota } = caller;
    for (const percent of THRESHOLDS) {
      // By subject: an external client may have the client id of a key.
      const name = `${quota.subject} ${window} ${number} ${percent}`;
      if (share * 100 < percent || this.emitted.has(name)) continue;
      this.emitted.set(name, true);
      this.events.emit('quota.threshold', { clientId, window, percent }, id);
    }
  }
}
