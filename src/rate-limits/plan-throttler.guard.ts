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
import { PerOperation, replyOf, requestOf } from '../http/request-context.js';
import type { Limits } from './limits.js';
import { RateLimiter } from './rate-limiter.js';
import { SEPARATE_QUOTA } from './separate-quota.decorator.js';

/** The only named throttler. A second one would add a suffix to every header. */
export const PLAN_THROTTLER = 'default';
/** The metadata keys of `@Throttle()` and `@SkipThrottle()` begin with it; @nestjs/throttler does not export them. */
const THROTTLER_KEYS = 'THROTTLER:';
/** The limit of an operation without `@Throttle()`: the plan's limits apply to it, and no other. */
export const NO_FURTHER_LIMIT = Number.POSITIVE_INFINITY;

/**
 * Applies the limits of the caller's plan, and those of `@Throttle()` besides. It counts in `RateLimitStore`: the storage
 * of the throttler counts each window on its own, so a request cannot count in all windows or in none.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  private readonly separateLimits: PerOperation<Limits | undefined>;
  private readonly isSkipped = new PerOperation(
    (controller, handler) => (skipOf(handler) ?? skipOf(controller)) === true,
  );
  private readonly isPlain = new PerOperation(
    (controller, handler) => ![controller, handler].some(isDecorated),
  );

  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limiter: RateLimiter,
  ) {
    super(options, storage, reflector);
    this.separateLimits = new PerOperation((_controller, handler) =>
      reflector.get<Limits | undefined>(SEPARATE_QUOTA, handler),
    );
  }

  /** Operations without `@Throttle()` and `@SkipThrottle()` bypass the stock guard: 6 of 42 µs of a get. */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (!this.isPlain.of(context)) return super.canActivate(context);
    const { quota } = requestOf(context);
    if (quota !== undefined) await this.limiter.admit(quota, replyOf(context));
    return true;
  }

  /** Skipped operations consume no quota, but their headers describe it. Public operations have none. */
  protected override async shouldSkip(context: ExecutionContext): Promise<boolean> {
    const { quota } = requestOf(context);
    if (quota === undefined) return true;
    if (!this.isSkipped.of(context)) return false;
    await this.limiter.describe(quota, replyOf(context));
    const limits = this.separateLimits.of(context);
    if (limits !== undefined) await this.limiter.admitSeparately(quota, limits);
    return true;
  }

  protected override async handleRequest(request: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl } = request;
    const { quota, operation } = requestOf(context);
    const further =
      limit === NO_FURTHER_LIMIT ? undefined : { operation: operation!, limit, ttlMs: ttl };
    await this.limiter.admit(quota!, replyOf(context), further);
    return true;
  }
}

function isDecorated(target: object): boolean {
  return Reflect.getMetadataKeys(target).some((key) => String(key).startsWith(THROTTLER_KEYS));
}

function skipOf(target: object): unknown {
  return Reflect.getMetadata(`${THROTTLER_KEYS}SKIP${PLAN_THROTTLER}`, target);
}
