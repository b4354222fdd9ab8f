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
import { throttlingOf } from '../http/nest-metadata.js';
import { PerOperation } from '../http/operations.js';
import { replyOf, requestOf } from '../http/request-context.js';
import { COUNTED_APART } from './counted-apart.decorator.js';
import type { Limits } from './limits.js';
import { RateLimiter } from './rate-limiter.js';

/** The one named throttler: two would put a suffix to every header. */
export const PLAN_THROTTLER = 'default';
/** The plan's limits are the caller's; where an operation has a limit of its own, `@Throttle()` says so. */
export const NO_FURTHER_LIMIT = Number.POSITIVE_INFINITY;

/**
 * Judges how much a caller may by its plan, and by what `@Throttle()` says besides. Counting is ours, since
 * the stock storage counts windows one by one, and so cannot take from all or from none.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  private readonly apart: PerOperation<Limits | undefined>;
  private readonly isSkipped = new PerOperation(
    (controller, handler) => (saysToSkip(handler) ?? saysToSkip(controller)) === true,
  );
  private readonly isOrdinary = new PerOperation(
    (controller, handler) => ![controller, handler].some(saysHowToThrottle),
  );

  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limiter: RateLimiter,
  ) {
    super(options, storage, reflector);
    this.apart = new PerOperation((_controller, handler) =>
      reflector.get<Limits | undefined>(COUNTED_APART, handler),
    );
  }

  /** Where an operation says nothing of throttling, the stock guard asks it in vain, for a tenth of a request. */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (!this.isOrdinary.of(context)) return super.canActivate(context);
    const { quota } = requestOf(context);
    // Nobody is counted where all are let in.
    const admitted = quota && this.limiter.admit(quota, replyOf(context));
    if (admitted !== undefined) await admitted;
    return true;
  }

  /** Nothing is taken of the quota, and the headers still tell what is left. Nobody is counted where all are let in. */
  protected override async shouldSkip(context: ExecutionContext): Promise<boolean> {
    const { quota } = requestOf(context);
    if (quota === undefined) return true;
    if (!this.isSkipped.of(context)) return false;
    await this.limiter.describe(quota, replyOf(context));
    const limits = this.apart.of(context);
    if (limits !== undefined) await this.limiter.admitApart(quota, limits);
    return true;
  }

  protected override async handleRequest(request: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl } = request;
    const asked = requestOf(context);
    // The same on every node, and for each path and method of the operation.
    const operation = asked.operation!;
    const further = limit === NO_FURTHER_LIMIT ? undefined : { operation, limit, ttlMs: ttl };
    await this.limiter.admit(asked.quota!, replyOf(context), further);
    return true;
  }
}

function saysHowToThrottle(target: object): boolean {
  return throttlingOf(target).length > 0;
}

function saysToSkip(target: object): unknown {
  return throttlingOf(target).find(({ what }) => what === 'skip')?.value;
}
