import { createHash } from 'node:crypto';
import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { serviceUnavailable } from '../errors/errors.js';
import { Limits, MAX_QUOTA } from '../rate-limits/limits.js';
import { PLANS } from '../rate-limits/plan.js';
import { Clock } from '../time/clock.js';
import { within } from '../time/within.js';
import { KEY_PREFIX } from './api-key-format.js';
import type { Caller } from './caller.js';
import type { TokenVerifier, VerifiedCaller } from './verifier.js';

/** RFC 6750 section 2.1. */
const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const PATIENCE_MS = 5_000;
const DIGEST_LENGTH = 22;

/** What extensions know callers by besides our keys; the first that knows a token is believed. */
@Injectable()
export class Verifiers implements OnModuleInit {
  private verifiers: readonly TokenVerifier[] = [];

  constructor(
    private readonly given: readonly (TokenVerifier | Type<TokenVerifier>)[],
    private readonly modules: ModuleRef,
    private readonly clock: Clock,
  ) {}

  async onModuleInit(): Promise<void> {
    this.verifiers = await Promise.all(this.given.map((each) => this.instanceOf(each)));
  }

  /** Whether anybody is asked about a token. */
  areAskedOf(token: string): boolean {
    return this.given.length > 0 && !token.startsWith(KEY_PREFIX) && BEARER_TOKEN.test(token);
  }

  /**
   * The caller that a token stands for; undefined where nobody says so.
   * @throws {ApiError} 503 where somebody cannot tell
   */
  callerOf(token: string): Promise<Caller | undefined> | undefined {
    return this.areAskedOf(token) ? this.ask(token) : undefined;
  }

  private async ask(token: string): Promise<Caller | undefined> {
    try {
      for (const verifier of this.verifiers) {
        const verified = await within(PATIENCE_MS, Promise.resolve(verifier.verify(token)));
        if (verified) return this.inForce(toCaller(verified));
      }
      return undefined;
    } catch (error) {
      throw serviceUnavailable(error);
    }
  }

  private inForce(caller: Caller): Caller | undefined {
    return caller.expiresAtMs > this.clock.now() ? caller : undefined;
  }

  /** A class may be provided by the module of its extension; if not, it is made here. */
  private async instanceOf(given: TokenVerifier | Type<TokenVerifier>): Promise<TokenVerifier> {
    if (typeof given !== 'function') return given;
    try {
      return this.modules.get(given, { strict: false });
    } catch {
      return this.modules.create(given);
    }
  }
}

/**
 * Clients of others are counted and banned under a name that can be none of our own clients', and that is as
 * long as ours whatever they call theirs.
 */
function toCaller({ clientId, scopes, plan, limits, expiresAt }: VerifiedCaller): Caller {
  if (typeof clientId !== 'string' || clientId === '') throw new InvalidCallerError('clientId');
  if (!Array.isArray(scopes)) throw new InvalidCallerError('scopes');
  const { perMinute, perDay } = limits ?? (plan && PLANS[plan]) ?? {};
  if (!isQuota(perMinute) || !isQuota(perDay)) throw new InvalidCallerError('plan or limits');
  if (expiresAt !== undefined && !Number.isFinite(expiresAt)) {
    throw new InvalidCallerError('expiresAt');
  }
  const id = `tok_${createHash('sha256').update(clientId).digest('base64url').slice(0, DIGEST_LENGTH)}`;
  const counted = plan ?? 'enterprise';
  return {
    clientId,
    keyId: id,
    plan: counted,
    scopes: new Set(scopes),
    quota: { subject: id, limits: new Limits(perMinute, perDay), plan: counted },
    expiresAtMs: expiresAt === undefined ? Infinity : expiresAt * 1000,
  };
}

function isQuota(value: number | undefined): value is number {
  return Number.isSafeInteger(value) && value! >= 1 && value! <= MAX_QUOTA;
}

class InvalidCallerError extends Error {
  constructor(member: string) {
    super(`A verifier told of a caller without usable ${member}`);
  }
}
