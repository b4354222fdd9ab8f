import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { errors } from '../errors/errors.js';
import { clientAddress } from '../http/client-address.js';
import { requestOf } from '../http/request-context.js';
import { Limits } from '../rate-limits/limits.js';
import { reportQuota } from '../rate-limits/quota-report.js';
import { RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import { addressRateLimitKey } from '../rate-limits/rate-limit-key.js';

const PER_MINUTE = 600;
const LIMITS = new Limits(PER_MINUTE, PER_MINUTE * 1_440);

/**
 * Limits the requests of one address to the public pages, separately from its failed
 * authentications.
 */
@Injectable()
export class PageLimitGuard implements CanActivate {
  constructor(private readonly store: RateLimitStore) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const address = clientAddress(requestOf(context));
    const decision = await this.store.take(addressRateLimitKey(`pages:${address}`), LIMITS);
    if (decision.admitted) return true;
    const seconds = String(reportQuota(LIMITS, decision).retryAfterSeconds);
    throw errors.rate_limit_exceeded(`Too many requests; retry after ${seconds} s`, {
      headers: { 'Retry-After': seconds },
    });
  }
}
