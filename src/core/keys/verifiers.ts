import { Inject, Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { serviceUnavailable } from '../errors/errors.js';
import type { Limits } from '../rate-limits/limits.js';
import { arePlanLimits, Plans } from '../rate-limits/plan.js';
import { Clock } from '../time/clock.js';
import { withTimeout } from '../time/timeout.js';
import { digestOf } from './api-key-format.js';
import type { Caller } from './caller.js';

/** The caller that a token identifies. */
export interface VerifiedCaller {
  /**
   * Requests with the same client id share their counters and bans: 1 to 255 printable characters.
   * A token with another id, or one that begins with `key_`, as those of the service do, is not
   * valid.
   */
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** The plan of the client, required unless there are `limits`. */
  readonly plan?: string;
  /** Limits that replace those of a plan: integers between 1 and 10^12. */
  readonly limits?: Limits;
  /** Unix seconds, below 10^11: milliseconds are not valid. */
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

/** A verifier and the name of its extension. A class must be a provider of the module. */
export interface NamedVerifier {
  readonly extension: string;
  readonly verifier: TokenVerifier | Type<TokenVerifier>;
}

/** Injection token: every `NamedVerifier`. */
export const VERIFIERS = Symbol('verifiers');

/** RFC 6750 section 2.1. */
const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
/** Keys and admin tokens are never shown to a verifier. */
const OWN_TOKEN = /^ps[ka]_/;
const CLIENT_ID = /^(?!key_)\P{C}{1,255}$/u;
const TIMEOUT_MS = 5_000;
const ID_LENGTH = 22;
/** As Unix milliseconds, a time in 1973. */
const MAX_EXPIRES_AT = 1e11;

/**
 * Identifies callers by the verifiers of extensions. The first one that accepts a token decides.
 */
@Injectable()
export class Verifiers implements OnModuleInit {
  private verifiers: readonly { extension: string; verifier: TokenVerifier }[] = [];

  constructor(
    @Inject(VERIFIERS) private readonly given: readonly NamedVerifier[],
    private readonly modules: ModuleRef,
    private readonly clock: Clock,
    private readonly plans: Plans,
  ) {}

  onModuleInit(): void {
    this.verifiers = this.given.map(({ extension, verifier: each }) => {
      const isClass = typeof each === 'function';
      return { extension, verifier: isClass ? this.modules.get(each, { strict: false }) : each };
    });
  }

  /** Whether a token is passed to the verifiers. */
  canVerify(token: string): boolean {
    return this.given.length > 0 && !OWN_TOKEN.test(token) && BEARER_TOKEN.test(token);
  }

  /**
   * Returns the caller of a token, undefined if no verifier accepts it.
   * @throws {ApiError} 503 if a verifier fails
   */
  async callerOf(token: string): Promise<Caller | undefined> {
    if (!this.canVerify(token)) return undefined;
    for (const { extension, verifier } of this.verifiers) {
      try {
        const verified = await withTimeout(TIMEOUT_MS, Promise.resolve(verifier.verify(token)));
        if (!verified || !CLIENT_ID.test(verified.clientId)) continue;
        const caller = toCaller(verified, this.plans);
        return caller.expiresAtMs > this.clock.now() ? caller : undefined;
      } catch (cause) {
        throw serviceUnavailable(new Error(`extension ${extension}: verify() failed`, { cause }));
      }
    }
    return undefined;
  }
}

/**
 * External clients are counted under a hash of their id, which can never be the id of a client of
 * the service.
 */
function toCaller(verified: VerifiedCaller, plans: Plans): Caller {
  const { clientId, scopes, plan = 'enterprise', expiresAt } = verified;
  const limits = verified.limits ?? plans.of(plan);
  const faults = [
    ...(typeof clientId === 'string' ? [] : ['clientId must be a text']),
    ...(Array.isArray(scopes) ? [] : ['scopes must be an array']),
    ...(arePlanLimits(limits) ? [] : [`limits, or those of plan "${plan}", are not valid`]),
    ...(isExpiry(expiresAt) ? [] : ['expiresAt must be a number of Unix seconds below 10^11']),
  ];
  if (faults.length > 0) throw new Error(faults.join('; '));
  const id = `tok_${digestOf(clientId).slice(0, ID_LENGTH)}`;
  const quota = { key: id, limits: limits! };
  const expiresAtMs = (expiresAt ?? Infinity) * 1000;
  return { clientId, keyId: id, plan, scopes: new Set(scopes), quota, expiresAtMs };
}

function isExpiry(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === 'number' && value > 0 && value < MAX_EXPIRES_AT;
}
