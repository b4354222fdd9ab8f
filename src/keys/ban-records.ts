import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { ClientAddress } from '../http/client-address.js';
import type { ApiRequest } from '../http/request-context.js';
import { BanLedger } from '../rate-limits/bans/ban-ledger.js';
import type { Ban } from '../rate-limits/bans/bans.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import { Logger } from '../telemetry/logger.js';
import { Clock } from '../time/clock.js';
import { type Initiator, isoTime, SERVICE } from './audit-record.js';
import { AuditTrail } from './audit-trail.js';
import type { Caller } from './caller.js';

const RETRY_MS = 1_000;
/** Far more than are begun while a database is away; each is tried again every second. */
const MOST_UNSAVED = 1_000;

interface NewBan {
  ban: Ban;
  caller: Caller;
  by: Initiator;
}

/** Has bans outlive the process, each with an audit record and a line of the log. */
@Injectable()
export class BanRecords implements BeforeApplicationShutdown {
  private readonly saving = new Set<Promise<void>>();
  private readonly stopping = new AbortController();

  constructor(
    limiter: RateLimiter,
    private readonly bans: BanLedger,
    private readonly audit: AuditTrail,
    private readonly addresses: ClientAddress,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    limiter.onBan((ban, request) => this.record(ban, request));
  }

  /** Before the database is closed, which is done in the next step of a shutdown. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.saving);
  }

  private record(ban: Ban, { caller, raw, id: requestId }: ApiRequest): void {
    if (caller === undefined) return;
    const by = { ...SERVICE, address: this.addresses.of(raw), requestId };
    const saved = this.save({ ban, caller, by });
    this.saving.add(saved);
    void saved.finally(() => this.saving.delete(saved));
  }

  /** What cannot be saved is tried again for as long as the ban lasts. */
  private async save(news: NewBan): Promise<void> {
    for (let isSaid = false; ; isSaid = true) {
      try {
        const isNew = await this.write(news);
        if (isNew && !isSaid) this.say(news);
        return;
      } catch (err) {
        if (!isSaid) {
          this.say(news);
          const { keyId } = news.caller;
          const { requestId } = news.by;
          this.logger.error(
            { err, requestId, keyId },
            'A ban could not be saved yet: a restart would end it',
          );
        }
        const isOver = this.clock.now() >= news.ban.until || this.saving.size > MOST_UNSAVED;
        if (isOver || this.stopping.signal.aborted) return;
        const { signal } = this.stopping;
        await pause(RETRY_MS, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
  }

  /** Other nodes that hear of the ban write down the same one: it is new for the first of them. */
  private write({ ban, caller, by }: NewBan): Promise<boolean> {
    const { bans } = this;
    const { keyId: target, plan, quota } = caller;
    return this.audit.write(by, function* (note) {
      if (!(yield* bans.recording(quota.subject, ban))) return false;
      const after = { bannedUntil: isoTime(ban.until), seconds: secondsOf(ban), plan };
      yield* note({ action: 'key.ban', target, before: { bannedUntil: null }, after });
      return true;
    });
  }

  private say({ ban, caller: { keyId, plan }, by: { requestId, address } }: NewBan): void {
    const seconds = secondsOf(ban);
    this.logger.warn(
      { event: 'ban', requestId, keyId, plan, seconds, until: isoTime(ban.until), address },
      `Banned the key ${keyId} (plan ${plan}) for ${seconds} s: it went on after refusals`,
    );
  }
}

function secondsOf({ at, until }: Ban): number {
  return Math.ceil((until - at) / 1000);
}
