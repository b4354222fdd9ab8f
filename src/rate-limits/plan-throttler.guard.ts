import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import { PerOperation, replyOf, requestOf } from '../http/request.js';
import { type Limits, SEPARATE_QUOTA } from './limits.js';
import { separateRateLimitKey } from './rate-limit-key.js';
import { RateLimiter } from './rate-limiter.js';

/** The limit of an operation without `@Throttle()`: the default of the throttler. */
export const NO_LIMIT = Infinity;

/**
 * Applies the limits of the caller's plan, and those of `@Throttle()` besides. It counts in
 * `RateLimitStore`: the storage of the throttler counts each window on its own, so a request cannot
 * count in all windows or in none.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  /** Whether an operation has neither `@Throttle()` nor `@SkipThrottle()`, once it was called. */
  private readonly operations = new PerOperation(() => ({ isPlain: false }));

  @Inject(RateLimiter)
  private readonly limiter!: RateLimiter;

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const { quota } = requestOf(context);
    const reply = replyOf(context);
    if (quota === undefined) return true;
    // The stock guard costs 6 of the 42 µs of a get.
    if (this.operations.of(context).isPlain) return this.limiter.admit(quota, reply);
    await super.canActivate(context);
    const isSkipped = !reply.hasHeader('ratelimit');
    if (!isSkipped) return true;
    await this.limiter.describe(quota, reply);
    const limits = this.reflector.get<Limits | undefined>(SEPARATE_QUOTA, context.getHandler());
    return limits
      ? this.limiter.admitSeparately(separateRateLimitKey(quota.subject), limits)
      : true;
  }

  /** Called by the stock guard, unless the operation has `@SkipThrottle()`. */
  protected override async handleRequest(request: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl } = request;
    const { quota, operation } = requestOf(context);
    const hasLimit = limit !== NO_LIMIT;
    this.operations.of(context).isPlain = !hasLimit;
    const further = hasLimit ? { operation: operation!, limit, ttlMs: ttl } : undefined;
    return this.limiter.admit(quota!, replyOf(context), further);
  }
}
