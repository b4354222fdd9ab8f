import type { Quota } from '../rate-limits/limits.js';
import type { PlanName } from '../rate-limits/plan.js';

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
