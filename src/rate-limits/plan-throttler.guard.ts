import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  getOptionsToken,
  getStorageToken,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import { type ApiReply, PerOperation, replyOf, requestOf } from '../http/request-context.js';
import type { Limits, Quota } from './limits.js';
import { RateLimiter } from './rate-limiter.js';
import { SEPARATE_QUOTA } from './separate-quota.decorator.js';

/**
 * The throttler that `@Throttle()` and `@SkipThrottle()` name. A second one would add a suffix to
 * every header.
 */
const THROTTLER = 'default';
/** Metadata keys of the two decorators, which @nestjs/throttler does not export. */
const LIMIT = `THROTTLER:LIMIT${THROTTLER}`;
const SKIP = `THROTTLER:SKIP${THROTTLER}`;

/**
 * Applies the limits of the caller's plan, and those of `@Throttle()` besides. It counts in
 * `RateLimitStore`: the storage of the throttler counts each window on its own, so a request cannot
 * count in all windows or in none.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  private readonly operations: PerOperation<{
    isSkipped: boolean;
    hasLimit: boolean;
    separateLimits: Limits | undefined;
  }>;

  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limiter: RateLimiter,
  ) {
    super(options, storage, reflector);
    this.operations = new PerOperation((controller, handler) => ({
      isSkipped: reflector.getAllAndOverride(SKIP, [handler, controller]) === true,
      hasLimit: reflector.getAllAndOverride(LIMIT, [handler, controller]) !== undefined,
      separateLimits: reflector.get<Limits | undefined>(SEPARATE_QUOTA, handler),
    }));
  }

  /**
   * Only operations with `@Throttle()` run the stock guard, which costs 6 of 42 µs of a get. Nest
   * accepts a boolean too, and goes on at once.
   */
  override canActivate(context: ExecutionContext): Promise<boolean> {
    return this.check(context) as Promise<boolean>;
  }

  private check(context: ExecutionContext): boolean | Promise<boolean> {
    const { quota } = requestOf(context);
    if (quota === undefined) return true;
    const { isSkipped, hasLimit, separateLimits } = this.operations.of(context);
    if (isSkipped) return this.skip(quota, separateLimits, replyOf(context));
    return hasLimit ? super.canActivate(context) : this.limiter.admit(quota, replyOf(context));
  }

  private async skip(quota: Quota, limits: Limits | undefined, reply: ApiReply): Promise<true> {
    await this.limiter.describe(quota, reply);
    if (limits) await this.limiter.admitSeparately(quota, limits);
    return true;
  }

  protected override async handleRequest(request: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl } = request;
    const { quota, operation } = requestOf(context);
    const further = { operation: operation!, limit, ttlMs: ttl };
    return this.limiter.admit(quota!, replyOf(context), further);
  }
}
