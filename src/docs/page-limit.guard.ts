import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { clientAddress } from '../core/http/client-address.js';
import { requestOf } from '../core/http/request.js';
import { addressRateLimitKey } from '../core/rate-limits/rate-limit-key.js';
import { RateLimiter } from '../core/rate-limits/rate-limiter.js';

const LIMITS = { perMinute: 600, perDay: 864_000 };

/**
 * Limits the requests of one address to the public pages, separately from its failed
 * authentications.
 */
@Injectable()
export class PageLimitGuard implements CanActivate {
  constructor(private readonly limiter: RateLimiter) {}

  canActivate(context: ExecutionContext): Promise<true> {
    const address = clientAddress(requestOf(context));
    return this.limiter.admitSeparately(addressRateLimitKey(address, 'pages:'), LIMITS);
  }
}
