import type { PlanName } from '../rate-limits/plan.js';

/** Whom a token stands for, as who issued it says. */
export interface VerifiedCaller {
  /** Whose requests are counted together, and banned together. */
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly plan?: PlanName;
  /** Instead of those of a plan. */
  readonly limits?: { readonly perMinute: number; readonly perDay: number };
  /** Unix seconds. */
  readonly expiresAt?: number;
}

/** An identity provider of one's own: it is offered each bearer token that is no key of the service. */
export interface TokenVerifier {
  /** Undefined, or null, for a token that is not valid. A throw tells the caller to come again later. */
  verify(token: string): Promise<VerifiedCaller | undefined | null>;
}
