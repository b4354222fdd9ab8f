import type { IncomingMessage } from 'node:http';
import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiExtension } from '@nestjs/swagger';
import type { Counter } from 'prom-client';
import { Config } from '../config/config.js';
import { errors } from '../errors/errors.js';
import { ClientAddress } from '../http/client-address.js';
import { CHALLENGE } from '../http/http-exception.js';
import {
  type ApiReply,
  type ApiRequest,
  isPublic,
  isRepeated,
  NEEDS_CALLER,
  OperationIds,
  PerOperation,
  READS_NO_BODY,
  replyOf,
  requestOf,
} from '../http/request-context.js';
import { Limits, type Quota } from '../rate-limits/limits.js';
import { addressSubject } from '../rate-limits/names.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import { Metrics } from '../telemetry/metrics.js';
import { isWellFormedKey, KEY_LENGTH } from './api-key-format.js';
import { digestOf } from './caller-table.js';
import type { Caller, Origin } from './caller.js';
import { KeyDirectory } from './key-directory.js';
import { Verifiers } from './verifiers.js';

/** Spaces alone separate; behind other white space there is a key all the same, one that cannot be. */
const BEARER = /^Bearer(?: +|(?=\s))(.*)$/i;
const USUAL_SCHEME = 'Bearer ';
const WELL_FORMED_LENGTH = USUAL_SCHEME.length + KEY_LENGTH;

const FAILURES = [
  'missing',
  'malformed',
  'unknown',
  'revoked',
  'expired',
  'address_limited',
] as const;
type Failure = (typeof FAILURES)[number];

/** Tells who a caller is by its `Authorization: Bearer <key>` (RFC 6750 section 2.1). */
@Injectable()
export class Authenticator {
  private readonly addressLimits: Limits;
  private readonly failures: Counter<'reason'>;

  constructor(
    private readonly directory: KeyDirectory,
    private readonly verifiers: Verifiers,
    private readonly limiter: RateLimiter,
    private readonly addresses: ClientAddress,
    config: Config,
    metrics: Metrics,
  ) {
    this.addressLimits = new Limits(config.failedAuthPerMinute, config.failedAuthPerDay);
    this.failures = metrics.counter({
      name: 'authentication_failures_total',
      help: 'Requests without a valid key, by what was wrong with it; or with their address over its limit.',
      labelNames: ['reason'],
    });
    for (const reason of FAILURES) this.failures.inc({ reason }, 0);
  }

  /**
   * Sets the caller and its quota. A failure counts against the client's address.
   * @throws {ApiError} 401, or 429 where the address has failed too often
   */
  identify(request: ApiRequest, reply: ApiReply): void | Promise<void> {
    const key = presentedKey(request.raw);
    const found = key === undefined ? undefined : this.find(key);
    if (found instanceof Promise) {
      return found.then(
        (caller) => this.conclude(caller, key, request, reply),
        (outage) => this.giveUp(outage, request, reply),
      );
    }
    return this.conclude(found, key, request, reply);
  }

  private find(key: string): Caller | undefined | Promise<Caller | undefined> {
    if (key.length !== KEY_LENGTH) return this.verifiers.callerOf(key);
    const digest = digestOf(key);
    const remembered = this.directory.remembered(digest);
    if (remembered !== undefined) return remembered;
    return isWellFormedKey(key) ? this.directory.load(digest) : this.verifiers.callerOf(key);
  }

  private conclude(
    caller: Caller | undefined,
    key: string | undefined,
    request: ApiRequest,
    reply: ApiReply,
  ): void | Promise<void> {
    if (caller === undefined) return this.refuse(key, request, reply);
    request.caller = caller;
    request.quota = caller.quota;
  }

  private async refuse(
    key: string | undefined,
    request: ApiRequest,
    reply: ApiReply,
  ): Promise<never> {
    const { why, formerly } = this.whyNot(key);
    // What the limit of the address refuses is nobody's doing but the address's: no client is to answer for it.
    await this.chargeAddress(request, reply);
    request.formerCaller = formerly;
    this.failures.inc({ reason: why });
    if (key === undefined) {
      throw errors.missing_api_key('Send an API key: "Authorization: Bearer <API_KEY>"', {
        headers: { 'WWW-Authenticate': CHALLENGE },
      });
    }
    throw errors.invalid_api_key('The API key is not valid', {
      headers: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` },
    });
  }

  private async chargeAddress(request: ApiRequest, reply: ApiReply): Promise<void> {
    try {
      await this.limiter.admit(this.addressQuota(request), reply);
    } catch (error) {
      this.failures.inc({ reason: 'address_limited' });
      throw error;
    }
  }

  /** Whose key it was, where it has ended, is for the operator to know. */
  private whyNot(key: string | undefined): { why: Failure; formerly?: Caller } {
    if (key === undefined) return { why: 'missing' };
    if (isWellFormedKey(key)) {
      const known = this.directory.formerly(digestOf(key));
      return known ? { why: known.why, formerly: known.caller } : { why: 'unknown' };
    }
    return { why: this.verifiers.areAskedOf(key) ? 'unknown' : 'malformed' };
  }

  /** Nobody can tell at this moment who it is: the quota of its address stands in, uncounted. */
  private async giveUp(outage: unknown, request: ApiRequest, reply: ApiReply): Promise<never> {
    await this.limiter.describe(this.addressQuota(request), reply);
    throw outage;
  }

  private addressQuota(request: ApiRequest): Quota {
    return { subject: addressSubject(this.addresses.of(request.raw)), limits: this.addressLimits };
  }
}

/**
 * The key as sent, undefined where none was. Of two `Authorization` fields Node keeps the first; a
 * request that says twice who sent it says nothing, so they stand for a key that cannot be.
 */
function presentedKey({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  if (isRepeated('authorization', rawHeaders)) return '';
  // What nearly everyone sends needs no search.
  if (authorization.length === WELL_FORMED_LENGTH && authorization.startsWith(USUAL_SCHEME)) {
    const key = authorization.slice(USUAL_SCHEME.length);
    if (!key.startsWith(' ')) return key;
  }
  return withoutSpacesBehind(BEARER.exec(authorization)?.[1] ?? '') || undefined;
}

/** A pattern would take a time that grows with the square of the spaces in between. */
function withoutSpacesBehind(text: string): string {
  let end = text.length;
  while (text[end - 1] === ' ') end--;
  return text.slice(0, end);
}

/** Who are you: nothing but what is marked `@Public()` is open to a caller without a valid key. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly operations: OperationIds,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = requestOf(context);
    request.operation = this.operations.of(context);
    if (isPublic(context.getClass())) return true;
    const identified = this.authenticator.identify(request, replyOf(context));
    return identified === undefined ? true : identified.then(() => true);
  }
}

/** The name of the security scheme in the document. */
export const BEARER_SCHEME = 'apiKey';

/** The scopes that an operation requires, as its metadata; an empty list where any key will do. */
export const REQUIRED_SCOPES = 'petstore:required-scopes';
const REPEATED = 'petstore:repeated-scopes';
/** How the document is told of them. */
export const SCOPES_EXTENSION = 'x-required-scopes';

/** What a key must be allowed for the operation, or for each one of the controller: all of `scopes`. */
export function RequireScope(
  ...scopes: readonly [string, ...string[]]
): MethodDecorator & ClassDecorator {
  return withScopes(scopes);
}

/** Any valid key will do, whatever its scopes. */
export function AnyScope(): MethodDecorator & ClassDecorator {
  return withScopes([]);
}

function withScopes(scopes: readonly string[]): MethodDecorator & ClassDecorator {
  return applyDecorators(
    noteRepeat,
    SetMetadata(REQUIRED_SCOPES, scopes),
    ApiExtension(SCOPES_EXTENSION, scopes),
  );
}

/** The second one would replace the first, and open what that has closed. */
function noteRepeat(target: object, _key?: unknown, descriptor?: PropertyDescriptor): void {
  const on = (descriptor?.value ?? target) as object;
  if (Reflect.hasOwnMetadata(REQUIRED_SCOPES, on)) Reflect.defineMetadata(REPEATED, true, on);
}

/** Whether it is said twice which scopes a method, or a class, requires. */
export function areScopesRepeated(target: object): boolean {
  return Reflect.hasOwnMetadata(REPEATED, target);
}

@Injectable()
export class ScopeGuard implements CanActivate {
  private readonly required: PerOperation<readonly string[]>;

  constructor(reflector: Reflector) {
    this.required = new PerOperation(
      (controller, handler) =>
        reflector.getAllAndOverride<string[] | undefined>(REQUIRED_SCOPES, [handler, controller]) ??
        [],
    );
  }

  canActivate(context: ExecutionContext): boolean {
    const required = this.required.of(context);
    if (required.length === 0) return true;
    const { caller } = requestOf(context);
    for (const scope of required) {
      if (!caller?.scopes.has(scope)) {
        throw errors.insufficient_scope(`The API key lacks the scope ${scope}`, {
          headers: {
            'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${required.join(' ')}"`,
          },
        });
      }
    }
    return true;
  }
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
