import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestOf } from '../http/request.js';
import type { Quota } from '../rate-limits/limits.js';

/** The sender of a request, as identified by its key or token. */
export interface Caller {
  /** The client that holds the key. All keys of a client share it; it survives rotation. */
  readonly clientId: string;
  readonly keyId: string;
  readonly plan: string;
  readonly scopes: ReadonlySet<string>;
  readonly quota: Quota;
  /** Unix milliseconds; Infinity if the key does not expire. */
  readonly expiresAtMs: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
    /** The caller of a key that is rejected: revoked, expired, or used from another address. */
    formerCaller: Caller | undefined;
  }
}

/**
 * The caller of the request, as a parameter of a handler; undefined in a `@Public()` controller.
 */
export const CurrentCaller = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Caller | undefined => requestOf(context).caller,
);
