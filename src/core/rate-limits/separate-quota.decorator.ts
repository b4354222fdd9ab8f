import { applyDecorators, SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { SkipThrottle } from '@nestjs/throttler';
import { type Limits, SEPARATE_QUOTA } from './limits.js';

/** The limit of all such operations together, for each client. */
const LIMITS: Limits = { perMinute: 60, perDay: 86_400 };

/**
 * The operation consumes nothing of the caller's quota, and responds even if the quota is used up
 * or the key is banned. Its responses have no `ETag`.
 * @param options.isLimited whether it shares a limit of 60 requests a minute with the other such
 *   operations; exceeding it causes no ban
 */
export function SeparateQuota({ isLimited = true } = {}): MethodDecorator {
  return applyDecorators(
    SkipThrottle(),
    RouteConfig({ hasETag: false }),
    SetMetadata(SEPARATE_QUOTA, isLimited ? LIMITS : undefined),
  );
}
