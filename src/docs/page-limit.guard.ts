import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { clientAddress } from '../core/http/client-address.js';
import { requestOf } from '../core/http/request.js';
import { addressRateLimitKey } from '../core/rate-limits/rate-limit-key.js';
import { RateLimiter } from '../core/rate-limits/rate-limiter.js';

const LIMITS = { perMinute: 600, perDay: 864_000 };

/**
 * Limits the requests of one address to the pages of a controller, separately from its failed
 * authentications: requests to the public pages do not keep an operator from the console.
 */
@Injectable()
export class PageLimitGuard implements CanActivate {
  constructor(private readonly limiter: RateLimiter) {}

  canActivate(context: ExecutionContext): Promise<true> {
    const address = clientAddress(requestOf(context));
    const key = addressRateLimitKey(address, `${context.getClass().name}:`);
    return this.limiter.admitSeparately(key, LIMITS);
  }
}
