import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import type { ApiError, ErrorFactory } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import type { ApiReply, ApiRequest } from '../http/request.js';
import { Metrics } from '../telemetry/metrics.js';
import type { Limits, Quota } from './limits.js';
import { Plans } from './plan.js';
import { type QuotaReport, reportQuota } from './quota-report.js';
import { type Decision, RateLimitStore, STORE_MODES } from './stores/rate-limit-store.js';

const DECISIONS = ['admitted', 'minute', 'day', 'banned'] as const;

const BANNED =
  'This API key is temporarily banned because it kept sending requests after being rate limited.';

type Caller = NonNullable<ApiRequest['caller']>;
type DecisionListener = (decision: Decision, caller: Caller, request: ApiRequest) => void;

/**
 * Counts requests, sets the rate-limit headers of each response, and rejects requests over the
 * limit.
 */
@Injectable()
export class RateLimiter {
  private readonly listeners: DecisionListener[] = [];
  private readonly decisions: Counter<'plan' | 'decision'>;
  private readonly bans: Counter<'plan'>;

  constructor(
    private readonly store: RateLimitStore,
    metrics: Metrics,
    plans: Plans,
  ) {
    this.decisions = metrics.counter({
      name: 'rate_limit_decisions_total',
      help: 'Client requests by rate-limit decision: admitted, or rejected by a window or a ban.',
      labelNames: ['plan', 'decision'],
    });
    this.bans = metrics.counter({
      name: 'bans_total',
      help: 'Bans of clients that kept sending requests after being rate limited, by plan.',
      labelNames: ['plan'],
    });
    metrics.gauge({
      name: 'quota_store',
      help: 'Where requests are counted: 1 for the current mode, otherwise 0.',
      labelNames: ['mode'],
      collect() {
        for (const [mode, name] of Object.entries(STORE_MODES)) {
          this.set({ mode: name }, Number(mode === store.mode));
        }
      },
    });
    for (const plan of plans.names) {
      this.bans.inc({ plan }, 0);
      for (const decision of DECISIONS) this.decisions.inc({ plan, decision }, 0);
    }
  }

  /** Calls the listener with each decision on a request of a client. It must be fast. */
  onDecision(listener: DecisionListener): void {
    this.listeners.push(listener);
  }

  /**
   * Counts a request.
   * @throws {ApiError} 429 `rate_limit_exceeded` or `key_banned`
   */
  async admit(quota: Quota, reply: ApiReply): Promise<true> {
    const { key, limits } = quota;
    const decision = await this.store.take(key, limits);
    const report = reportQuota(limits, decision);
    setHeaders(limits, report, reply);
    const { caller } = reply.request;
    if (caller !== undefined) {
      const { plan } = caller;
      const name = decisionName(decision, limits);
      this.decisions.inc({ plan, decision: name });
      if (name === 'minute' || name === 'day') reply.request.fullWindow = name;
      if (decision.newBan !== undefined) this.bans.inc({ plan });
      for (const notify of this.listeners) notify(decision, caller, reply.request);
    }
    if (!decision.admitted) throw rejectionOf(decision, report);
    return true;
  }

  /** Sets the headers without counting a request. */
  async describe({ key, limits }: Quota, reply: ApiReply): Promise<void> {
    setHeaders(limits, reportQuota(limits, await this.store.peek(key)), reply);
  }

  /**
   * Counts a request that consumes no quota against other limits, and sets no headers.
   * @throws {ApiError} 429 `rate_limit_exceeded`
   */
  async admitSeparately(key: string, limits: Limits): Promise<true> {
    const decision = await this.store.take(key, limits);
    if (decision.admitted) return true;
    throw rejectionOf(decision, reportQuota(limits, decision));
  }

  /**
   * Counts an admitted request against the limit of its operation, from `@Throttle()`.
   * @throws {ApiError} 429 `rate_limit_exceeded`
   */
  async throttle(key: string, limit: number, windowMs: number): Promise<true> {
    const { used, endsInMs } = await this.store.count(key, windowMs);
    if (used <= limit) return true;
    const seconds = Math.max(1, Math.ceil(endsInMs / 1000));
    throw rejection(errors.rate_limit_exceeded, 'Rate limit for this operation exceeded.', seconds);
  }
}

function decisionName(
  { admitted, bannedUntilMs, dayUsed }: Decision,
  { perDay }: Limits,
): (typeof DECISIONS)[number] {
  if (admitted) return 'admitted';
  if (bannedUntilMs > 0) return 'banned';
  return dayUsed >= perDay ? 'day' : 'minute';
}

/** The policy: quota `q` per window of `w` seconds (draft-ietf-httpapi-ratelimit-headers). */
function setHeaders({ perMinute, perDay }: Limits, report: QuotaReport, reply: ApiReply): void {
  reply.header('x-ratelimit-limit', report.limit);
  reply.header('x-ratelimit-remaining', report.remaining);
  reply.header('x-ratelimit-reset', report.resetUnix);
  reply.header('ratelimit-policy', `"minute";q=${perMinute};w=60,"day";q=${perDay};w=86400`);
  reply.header('ratelimit', report.rateLimit);
}

/** `Retry-After` of a new ban covers only the ban. */
function rejectionOf({ bannedUntilMs }: Decision, { retryAfterSeconds }: QuotaReport): ApiError {
  return bannedUntilMs > 0
    ? rejection(errors.key_banned, BANNED, retryAfterSeconds)
    : rejection(errors.rate_limit_exceeded, 'Rate limit exceeded.', retryAfterSeconds);
}

function rejection(error: ErrorFactory, message: string, seconds: number): ApiError {
  const headers = { 'Retry-After': String(seconds) };
  return error(`${message} Retry after ${seconds} seconds.`, { headers });
}
