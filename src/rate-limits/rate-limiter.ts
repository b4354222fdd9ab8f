import { Injectable } from '@nestjs/common';
import { ApiError } from '../http/api-error.js';
import type { ApiReply } from '../http/request-context.js';
import type { Limits, Quota } from './limits.js';
import { type QuotaReport, reportQuota } from './rate-limit-headers.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';

/** Counts a request and tells the caller, on every response, what is left. */
@Injectable()
export class RateLimiter {
  constructor(private readonly store: RateLimitStore) {}

  /** @throws {ApiError} 429 `rate_limit_exceeded` or `key_banned` */
  admit({ subject, limits }: Quota, reply: ApiReply): void | Promise<void> {
    const decision = this.store.take(subject, limits);
    if (decision instanceof Promise) return decision.then((each) => conclude(limits, each, reply));
    conclude(limits, decision, reply);
  }

  /** Tells what is left, and counts nothing: for a request that cannot be judged at this moment. */
  async describe({ subject, limits }: Quota, reply: ApiReply): Promise<void> {
    setHeaders(limits, reportQuota(limits, await this.store.peek(subject)), reply);
  }
}

function conclude(limits: Limits, decision: Decision, reply: ApiReply): void {
  const report = reportQuota(limits, decision);
  setHeaders(limits, report, reply);
  if (!decision.admitted) throw refusalOf(decision, report);
}

function setHeaders(limits: Limits, report: QuotaReport, reply: ApiReply): void {
  reply.header('x-ratelimit-limit', report.limit);
  reply.header('x-ratelimit-remaining', report.remaining);
  reply.header('x-ratelimit-reset', report.resetUnix);
  reply.header('ratelimit-policy', limits.policy);
  reply.header('ratelimit', report.rateLimit);
}

function refusalOf({ bannedUntilMs }: Decision, { retryAfterSeconds }: QuotaReport): ApiError {
  const headers = { 'Retry-After': String(retryAfterSeconds) };
  const wait = `retry after ${retryAfterSeconds} s`;
  return bannedUntilMs > 0
    ? new ApiError('key_banned', `Banned for going on after too many refusals; ${wait}`, {
        headers,
      })
    : new ApiError('rate_limit_exceeded', `The rate limit is exceeded; ${wait}`, { headers });
}
