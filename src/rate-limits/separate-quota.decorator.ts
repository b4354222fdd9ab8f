import { applyDecorators, SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { SkipThrottle } from '@nestjs/throttler';
import { Limits, SEPARATE_QUOTA } from './limits.js';

/**
 * The operation consumes nothing of the caller's quota, and responds even if the quota is used up
 * or the key is banned. Its responses have no `ETag`.
 * @param options.perMinute limit of all such operations together for each client; exceeding it
 *   causes no ban; left out for no limit
 */
export function SeparateQuota({ perMinute }: { perMinute?: number } = {}): MethodDecorator {
  const limits = perMinute && new Limits(perMinute, perMinute * 60 * 24);
  return applyDecorators(
    SkipThrottle(),
    RouteConfig({ hasETag: false }),
    SetMetadata(SEPARATE_QUOTA, limits),
  );
}
