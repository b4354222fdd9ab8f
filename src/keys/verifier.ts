import type { PlanName } from '../rate-limits/plan.js';

/** The caller that a token identifies. */
export interface VerifiedCaller {
  /** Requests with the same client id share their counters and bans. */
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** The plan of the client, required unless there are `limits`. */
  readonly plan?: PlanName;
  /** Limits that replace those of a plan: integers between 1 and 10^12. */
  readonly limits?: { readonly perMinute: number; readonly perDay: number };
  /** Unix seconds. */
  readonly expiresAt?: number;
}

/** Verifies the tokens of an external identity provider. */
export interface TokenVerifier {
  /**
   * Verifies a bearer token that is not a key of the service.
   * @returns undefined or null if the token is not valid: the response is 401
   * @throws any error if the token cannot be verified now: the response is 503
   */
  verify(token: string): Promise<VerifiedCaller | undefined | null>;
}
