import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestOf } from '../http/request-context.js';
import type { Quota } from '../rate-limits/limits.js';

/** Who sent a request, as its key tells. Shared by all requests of the key, and never changed. */
export interface Caller {
  readonly keyId: string;
  readonly scopes: ReadonlySet<string>;
  readonly quota: Quota;
  /** Unix milliseconds; Infinity where the key does not expire. */
  readonly expiresAtMs: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
}

/** The caller as a controller's parameter. Every operation has one: there is no other way in. */
export const CurrentCaller = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => requestOf(context).caller,
);
