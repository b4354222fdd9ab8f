import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { NEEDS_CALLER } from '../http/operations.js';
import { READS_NO_BODY, requestOf } from '../http/request-context.js';
import type { PlanName } from '../rate-limits/plan.js';
import type { Quota } from '../rate-limits/limits.js';

/** Who sent a request, as its key tells. Never changed. */
export interface Caller {
  /** The client's, which its keys share: it outlives their rotation. */
  readonly clientId: string;
  readonly keyId: string;
  readonly plan: PlanName;
  readonly scopes: ReadonlySet<string>;
  readonly quota: Quota;
  /** Unix milliseconds; Infinity where the key does not expire. */
  readonly expiresAtMs: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
    /** Whose key was sent that is no longer in force: who refuses it may tell. */
    formerCaller: Caller | undefined;
  }
}

/** Whom a request came from, for whoever is told of what it did. */
export interface Origin {
  clientId: string;
  requestId: string;
}

/** Where the request comes from, as a controller's parameter. */
export const RequestOrigin = createParamDecorator(originOf);

function originOf(_data: unknown, context: ExecutionContext): Origin {
  const { caller, id } = requestOf(context);
  return { clientId: caller!.clientId, requestId: id };
}
Reflect.defineMetadata(READS_NO_BODY, true, originOf);
Reflect.defineMetadata(NEEDS_CALLER, '@RequestOrigin()', originOf);

/**
 * The caller as a controller's parameter. Every operation has one, as there is no other way in; but for those of a
 * `@Public()` controller, which are not started with it.
 */
export const CurrentCaller = createParamDecorator(callerOf);

function callerOf(_data: unknown, context: ExecutionContext): Caller | undefined {
  return requestOf(context).caller;
}
Reflect.defineMetadata(READS_NO_BODY, true, callerOf);
Reflect.defineMetadata(NEEDS_CALLER, '@CurrentCaller()', callerOf);
