import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import { Limits } from './limits.js';

/** What an operation is limited to that takes nothing of the quota. */
export const COUNTED_APART = 'petstore:counted-apart';
/** How the document is told of it. */
export const APART_EXTENSION = 'x-counted-apart';

/**
 * The operation takes nothing of its caller's quota, and is answered while that is used up or the key banned.
 * Each client may ask so often a minute, and nobody is banned for more.
 */
export function CountedApart({ perMinute }: { perMinute: number }): MethodDecorator {
  const limits = new Limits(perMinute, perMinute * 60 * 24);
  return applyDecorators(
    SkipThrottle(),
    SetMetadata(COUNTED_APART, limits),
    ApiExtension(APART_EXTENSION, true),
  );
}
