import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { BackgroundTasks, type Flush } from '../database/background-tasks.js';
import { Events } from '../events/events.js';
import { clientAddress } from '../http/client-address.js';
import type { ApiRequest } from '../http/request.js';
import { BanRepository } from '../rate-limits/bans/ban.repository.js';
import type { Ban } from '../rate-limits/bans/bans.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import type { Decision } from '../rate-limits/stores/rate-limit-store.js';
import { Logger } from '../telemetry/logger.js';
import { isoTime } from '../time/windows.js';
import { SERVICE } from './audit-record.entity.js';
import { AuditTrail } from './audit-trail.js';
import type { Caller } from './caller.js';

/** A ban is saved immediately, and if that fails, after this time. */
const RETRY_INTERVAL_MS = 1_000;
const PERCENTAGES = [75, 90, 100] as const;

/** This process rejected a request and banned its client. */
export interface KeyBanned {
  keyId: string;
  clientId: string;
  until: Date;
}

/** A client has used this share of its quota in a window. */
export interface QuotaThreshold {
  clientId: string;
  window: 'minute' | 'day';
  percent: (typeof PERCENTAGES)[number];
}

/**
 * Reports what the rate limiter decides on the requests of a client. A ban is logged, emitted as
 * `key.banned`, and saved with its audit record, so that it survives a restart. Each
 * `quota.threshold` is emitted once per window and node.
 */
@Injectable()
export class CallerEvents {
  private readonly unsaved = new Set<() => Promise<void>>();
  private readonly saveBans: Flush;
  /** `max` would allocate all slots up front. */
  private readonly emitted = new LRUCache<string, true>({ maxSize: 100_000 });

  constructor(
    limiter: RateLimiter,
    private readonly bans: BanRepository,
    private readonly audit: AuditTrail,
    private readonly events: Events,
    private readonly logger: Logger,
    background: BackgroundTasks,
  ) {
    this.saveBans = background.add({
      task: 'save bans',
      intervalMs: RETRY_INTERVAL_MS,
      run: async () => {
        for (const save of this.unsaved) {
          await save();
          this.unsaved.delete(save);
        }
      },
    });
    limiter.onDecision((decision, caller, request) => {
      const { newBan, admitted } = decision;
      if (newBan !== undefined) this.reportBan(newBan, caller, request);
      if (admitted && events.has('quota.threshold')) this.reportUse(decision, caller);
    });
  }

  private reportBan(ban: Ban, caller: Caller, request: ApiRequest): void {
    const { keyId, clientId, plan, quota } = caller;
    const banned: KeyBanned = { keyId, clientId, until: new Date(ban.until) };
    this.events.emit('key.banned', banned);
    const { id: requestId } = request;
    const address = clientAddress(request);
    const seconds = Math.ceil((ban.until - ban.at) / 1000);
    const until = isoTime(ban.until);
    this.logger.warn(
      { event: 'ban', requestId, keyId, plan, seconds, until, address },
      `Banned key ${keyId} (plan ${plan}) for ${seconds} s`,
    );
    const by = { ...SERVICE, address, requestId };
    const states = { before: { bannedUntil: null }, after: { bannedUntil: until, seconds, plan } };
    this.unsaved.add(() =>
      this.audit.write(by, async ({ record }) => {
        await this.bans.record(quota.key, ban);
        await record({ action: 'key.ban', target: keyId, ...states });
      }),
    );
    void this.saveBans();
  }

  private reportUse(decision: Decision, { clientId, quota }: Caller): void {
    const { key, limits } = quota;
    const { minute, minuteUsed, day, dayUsed } = decision;
    const windows = [
      { window: 'minute', number: minute, share: minuteUsed / limits.perMinute },
      { window: 'day', number: day, share: dayUsed / limits.perDay },
    ] as const;
    for (const { window, number, share } of windows) {
      for (const percent of PERCENTAGES) {
        // By rate-limit key: an external client may have the client id of a key.
        const name = `${key} ${window} ${number} ${percent}`;
        if (share * 100 < percent || this.emitted.has(name)) continue;
        this.emitted.set(name, true, { size: 1 });
        const reached: QuotaThreshold = { clientId, window, percent };
        this.events.emit('quota.threshold', reached);
      }
    }
  }
}
