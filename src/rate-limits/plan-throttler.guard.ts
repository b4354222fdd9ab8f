import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  getOptionsToken,
  getStorageToken,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import { replyOf, requestOf } from '../http/request-context.js';
import { RateLimiter } from './rate-limiter.js';

/** The one named throttler: two would put a suffix to every header. Its limits are those of the plan. */
export const PLAN_THROTTLER = 'default';
const SKIP_METADATA = `THROTTLER:SKIP${PLAN_THROTTLER}`;

/**
 * Judges how much a caller may by its plan. `@SkipThrottle()` works as everywhere; counting is ours,
 * since the stock storage counts windows one by one, and so cannot take from both or from neither.
 */
@Injectable()
export class PlanThrottlerGuard extends ThrottlerGuard {
  /** By controller and handler: controllers that inherit a handler share it, and not what is skipped. */
  private readonly skipped = new WeakMap<object, WeakMap<object, boolean>>();

  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limiter: RateLimiter,
  ) {
    super(options, storage, reflector);
  }

  /** The stock guard reads a dozen metadata per request, of which only skipping applies to a plan. */
  override canActivate(context: ExecutionContext): Promise<boolean> {
    const { quota } = requestOf(context);
    if (quota === undefined || this.isSkipped(context)) return true as never;
    const counted = this.limiter.admit(quota, replyOf(context));
    return (counted === undefined ? true : counted.then(() => true)) as never;
  }

  private isSkipped(context: ExecutionContext): boolean {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    let ofController = this.skipped.get(controller);
    if (ofController === undefined) {
      ofController = new WeakMap();
      this.skipped.set(controller, ofController);
    }
    let skipped = ofController.get(handler);
    if (skipped === undefined) {
      skipped =
        this.reflector.getAllAndOverride<boolean>(SKIP_METADATA, [handler, controller]) ?? false;
      ofController.set(handler, skipped);
    }
    return skipped;
  }
}
