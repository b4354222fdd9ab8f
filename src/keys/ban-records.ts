import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { ClientAddress } from '../http/client-address.js';
import type { ApiRequest } from '../http/request-context.js';
import { BanRepository } from '../rate-limits/bans/ban.repository.js';
import type { Ban } from '../rate-limits/bans/bans.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import { Logger } from '../telemetry/logger.js';
import { isoTime, SERVICE } from './audit-record.js';
import { AuditTrail } from './audit-trail.js';

/** Saves each ban with its audit record, so that it survives a restart, and logs it. */
@Injectable()
export class BanRecords implements BeforeApplicationShutdown {
  private saving = Promise.resolve();

  constructor(
    limiter: RateLimiter,
    private readonly bans: BanRepository,
    private readonly audit: AuditTrail,
    private readonly addresses: ClientAddress,
    private readonly logger: Logger,
  ) {
    limiter.onBan((ban, request) => {
      this.saving = this.saving.then(() => this.save(ban, request));
    });
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.saving;
  }

  private async save(ban: Ban, { caller, raw, id: requestId }: ApiRequest): Promise<void> {
    if (caller === undefined) return;
    const { keyId: target, plan, quota } = caller;
    const address = this.addresses.of(raw);
    const seconds = Math.ceil((ban.until - ban.at) / 1000);
    const until = isoTime(ban.until);
    const after = { bannedUntil: until, seconds, plan };
    const by = { ...SERVICE, address, requestId };
    try {
      await this.audit.write(by, async ({ manager, record }) => {
        await this.bans.record(quota.subject, ban, manager);
        await record({ action: 'key.ban', target, before: { bannedUntil: null }, after });
      });
    } catch (err) {
      this.logger.error({ err, requestId, keyId: target }, 'A ban is not saved: a restart ends it');
    }
    this.logger.warn(
      { event: 'ban', requestId, keyId: target, plan, seconds, until, address },
      `Banned key ${target} (plan ${plan}) for ${seconds} s`,
    );
  }
}
