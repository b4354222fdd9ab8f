import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { clientAddress } from '../http/client-address.js';
import { Events } from '../events/events.js';
import type { ApiRequest } from '../http/request-context.js';
import { BanRepository } from '../rate-limits/bans/ban.repository.js';
import type { Ban } from '../rate-limits/bans/bans.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import { Logger } from '../telemetry/logger.js';
import { isoTime, SERVICE } from './audit-record.entity.js';
import { AuditTrail } from './audit-trail.js';

/** A client was banned, by a request that this process refused. */
export interface KeyBanned {
  keyId: string;
  clientId: string;
  until: Date;
}

declare module '../events/events.js' {
  interface PetStoreEvents {
    'key.banned': KeyBanned;
  }
}

/** Saves each ban with its audit record, so that it survives a restart; logs it, and emits `key.banned`. */
@Injectable()
export class BanRecords implements BeforeApplicationShutdown {
  private saving = Promise.resolve();

  constructor(
    limiter: RateLimiter,
    private readonly bans: BanRepository,
    private readonly audit: AuditTrail,
    private readonly events: Events,
    private readonly logger: Logger,
  ) {
    limiter.onDecision(({ newBan }, _quota, request) => {
      if (newBan !== undefined) this.record(newBan, request);
    });
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.saving;
  }

  private record(ban: Ban, request: ApiRequest): void {
    const { caller, id: requestId } = request;
    if (caller === undefined) return;
    const { keyId, clientId, plan, quota } = caller;
    this.events.emit('key.banned', { keyId, clientId, until: new Date(ban.until) }, requestId);
    const address = clientAddress(request);
    const seconds = Math.ceil((ban.until - ban.at) / 1000);
    const until = isoTime(ban.until);
    this.logger.warn(
      { event: 'ban', requestId, keyId, plan, seconds, until, address },
      `Banned key ${keyId} (plan ${plan}) for ${seconds} s`,
    );
    const by = { ...SERVICE, address, requestId };
    const states = { before: { bannedUntil: null }, after: { bannedUntil: until, seconds, plan } };
    const save = (): Promise<void> =>
      this.audit.write(by, async (transaction) => {
        await this.bans.record(quota.subject, ban, transaction.manager);
        await transaction.record({ action: 'key.ban', target: keyId, ...states });
      });
    this.saving = this.saving.then(save).catch((err: unknown) => {
      this.logger.error(
        { err, requestId, keyId },
        'A ban could not be saved: it ends when this server restarts',
      );
    });
  }
}
