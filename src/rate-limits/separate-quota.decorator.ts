import { applyDecorators, SetMetadata } from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
import { Limits } from './limits.js';

/** Metadata of an operation with a separate quota: its `Limits`. */
export const SEPARATE_QUOTA = 'petstore:separate-quota';

/**
 * The operation consumes nothing of the caller's quota, and answers even if the quota is used up or
 * the key is banned.
 * @param options.perMinute limit of its own for each client; exceeding it causes no ban
 */
export function SeparateQuota({ perMinute }: { perMinute: number }): MethodDecorator {
  const limits = new Limits(perMinute, perMinute * 60 * 24);
  return applyDecorators(SkipThrottle(), SetMetadata(SEPARATE_QUOTA, limits));
}
