import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Config } from '../config/config.js';
import { errors } from '../errors/errors.js';
import { clientAddress } from '../http/client-address.js';
import { CHALLENGE } from '../errors/to-api-error.js';
import type { ApiReply, ApiRequest } from '../http/request.js';
import type { Limits, Quota } from '../rate-limits/limits.js';
import { addressRateLimitKey } from '../rate-limits/rate-limit-key.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import { Metrics } from '../telemetry/metrics.js';
import { ADMIN_PREFIX, digestOf, isWellFormedKey, KEY_PREFIX } from './api-key-format.js';
import type { Caller } from './caller.js';
import { KeyCache, type RejectedCaller } from './key-cache.js';
import { Verifiers } from './verifiers.js';

/**
 * Only spaces may separate scheme and token. Any other white space makes the token invalid rather
 * than missing. Node has already removed the white space at the end of the header. A comma joins
 * two headers: a token in either of them is invalid. `Bearer x` and `Basic x, Bearer y` have a
 * token; `Basic x` and an empty header have none.
 */
const BEARER = /^(?:Bearer(?: +|(?=[\s,]))|(?=,|.*, Bearer\b))(.*)$/i;

const REASONS = ['missing', 'malformed', 'unknown', 'revoked', 'expired', 'address_limited'];

interface Failure {
  /** The caller of a key that is known, but rejected. */
  rejected?: RejectedCaller | undefined;
  /** What the client should send. */
  kind?: 'API key' | 'admin token';
}

/** Identifies the caller of a request by `Authorization: Bearer <token>` (RFC 6750 section 2.1). */
@Injectable()
export class Authenticator {
  private readonly addressLimits: Limits;
  private readonly failures: Counter<'reason'>;

  constructor(
    private readonly cache: KeyCache,
    private readonly verifiers: Verifiers,
    private readonly limiter: RateLimiter,
    config: Config,
    metrics: Metrics,
  ) {
    const { failedAuthPerMinute: perMinute, failedAuthPerDay: perDay } = config;
    this.addressLimits = { perMinute, perDay };
    this.failures = metrics.counter({
      name: 'authentication_failures_total',
      help: 'Requests without a valid key by reason, or over the limit of their address.',
      labelNames: ['reason'],
    });
    for (const reason of REASONS) this.failures.inc({ reason }, 0);
  }

  /**
   * Sets the caller of the request. A failure counts against the address of the
   * client.
   * @throws {ApiError} 401, 403 if the key may not be used from this address, or 429 if the address
   *   has failed too often
   */
  async authenticate(request: ApiRequest, reply: ApiReply): Promise<true> {
    const token = bearerToken(request);
    if (token === undefined) return this.reject(token, request, reply);
    const digest = digestOf(token);
    let caller: Caller | undefined;
    try {
      caller =
        this.cache.getCached(digest, request) ??
        (await (isWellFormedKey(token)
          ? this.cache.load(digest, request)
          : this.verifiers.callerOf(token)));
    } catch (error) {
      // Not known yet whether the key is valid: the response describes the address's quota.
      await this.limiter.describe(this.addressQuota(request), reply);
      throw error;
    }
    if (caller === undefined) {
      const rejected = this.cache.rejectedCaller(digest, request);
      return this.reject(token, request, reply, { rejected });
    }
    request.caller = caller;
    return true;
  }

  /**
   * Counts a failure against the address of the client.
   * @throws {ApiError} 401, 403 if the key may not be used from this address, or 429 if the address
   *   has failed too often
   */
  async reject(
    token: string | undefined,
    request: ApiRequest,
    reply: ApiReply,
    { rejected, kind = 'API key' }: Failure = {},
  ): Promise<never> {
    const reason = rejected?.reason ?? this.failureReason(token);
    try {
      await this.limiter.admit(this.addressQuota(request), reply);
    } catch (error) {
      this.failures.inc({ reason: 'address_limited' });
      throw error;
    }
    request.formerCaller = rejected?.caller;
    if (reason === 'address_not_allowed') {
      const address = clientAddress(request);
      throw errors.address_not_allowed(`The API key may not be used from ${address}`);
    }
    this.failures.inc({ reason });
    const challenge = token === undefined ? CHALLENGE : `${CHALLENGE}, error="invalid_token"`;
    const options = { headers: { 'WWW-Authenticate': challenge } };
    const placeholder = kind.toUpperCase().replace(' ', '_');
    throw token === undefined
      ? errors.missing_api_key(`Send an ${kind}: "Authorization: Bearer <${placeholder}>"`, options)
      : errors.invalid_api_key(`The ${kind} is not valid`, options);
  }

  private failureReason(token: string | undefined): string {
    if (token === undefined) return 'missing';
    const isOwn = [KEY_PREFIX, ADMIN_PREFIX].some((prefix) => isWellFormedKey(token, prefix));
    const canBeValid = isOwn || this.verifiers.canVerify(token);
    return canBeValid ? 'unknown' : 'malformed';
  }

  private addressQuota(request: ApiRequest): Quota {
    const key = addressRateLimitKey(clientAddress(request));
    return { key, limits: this.addressLimits };
  }
}

/**
 * The token as sent, undefined if there is none. Two `Authorization` headers arrive joined: an
 * invalid token.
 */
export function bearerToken({ raw }: ApiRequest): string | undefined {
  return BEARER.exec(raw.headers.authorization ?? '')?.[1] || undefined;
}
