import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { errors } from '../errors/errors.js';
import { Overload } from '../http/overload.js';
import { type ApiReply, replyOf, requestOf } from '../http/request-context.js';
import type { Quota } from './limits.js';
import { RateLimiter } from './rate-limiter.js';

/**
 * Made once: an error's stack costs more than its answer. Of several, so that those who were refused
 * together do not come back together.
 */
const REFUSALS = ['1', '2', '3'].map((seconds) =>
  errors.service_unavailable('The service is overloaded', { headers: { 'Retry-After': seconds } }),
);

/**
 * Between who are you and how much may you, is there any time for it: turns a share of the callers away while
 * this process has more to do than it can.
 */
@Injectable()
export class OverloadGuard implements CanActivate {
  constructor(
    private readonly overload: Overload,
    private readonly limiter: RateLimiter,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<never> {
    const { quota } = requestOf(context);
    if (quota === undefined) return true;
    return this.judge(quota, replyOf(context)) ?? true;
  }

  /** Takes nothing of the quota, which the headers tell of. @throws {ApiError} 503 */
  judge(quota: Quota, reply: ApiReply): void | Promise<never> {
    if (this.overload.sheds(reply)) return this.refuse(quota, reply);
  }

  /** At once, where the counters are in this process. */
  private refuse(quota: Quota, reply: ApiReply): Promise<never> {
    const refusal = REFUSALS[Math.floor(Math.random() * REFUSALS.length)]!;
    const described = this.limiter.describe(quota, reply);
    if (described === undefined) throw refusal;
    return described.then(() => {
      throw refusal;
    });
  }
}
