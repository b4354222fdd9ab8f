import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import type { ApiReply, ApiRequest } from '../http/request-context.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock } from '../time/clock.js';
import { dayEndUnix, dayOf, minuteEndUnix, minuteOf, secondsUntil } from '../time/windows.js';
import type { Ban } from './bans/bans.js';
import type { FurtherLimit } from './further-limit.js';
import type { Limits, Quota } from './limits.js';
import { separateSubject } from './subject.js';
import { PLAN_NAMES } from './plan.js';
import { type Decision, RateLimitStore } from './stores/rate-limit-store.js';

const JUDGEMENTS = ['admitted', 'minute', 'day', 'banned'] as const;
type Judgement = (typeof JUDGEMENTS)[number];

/** @param isHere whether the request itself led to the ban, or this node heard of it by the request */
export type BanListener = (ban: Ban, request: ApiRequest, isHere: boolean) => void;
export type ScarcityListener = (decision: Decision, quota: Quota, request: ApiRequest) => void;

/** From here on somebody may want to know. */
const SCARCE_FROM = 0.75;

/** Counts a request and tells the caller, on every response, what is left. */
@Injectable()
export class RateLimiter {
  private readonly banListeners: BanListener[] = [];
  private readonly scarcityListeners: ScarcityListener[] = [];
  private readonly decisions: Counter<'plan' | 'decision'>;
  private readonly bans: Counter<'plan'>;

  constructor(
    private readonly store: RateLimitStore,
    metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.decisions = metrics.counter({
      name: 'rate_limit_decisions_total',
      help: 'Requests of clients as their plan judged them: admitted, or refused by a window or a ban.',
      labelNames: ['plan', 'decision'],
    });
    this.bans = metrics.counter({
      name: 'bans_total',
      help: 'Bans of clients that went on after too many refusals, by plan.',
      labelNames: ['plan'],
    });
    for (const plan of PLAN_NAMES) {
      this.bans.inc({ plan }, 0);
      for (const decision of JUDGEMENTS) this.decisions.inc({ plan, decision }, 0);
    }
  }

  /** Has a listener told of each ban, by the request that it began with, or that this node heard of it by. */
  onBan(listener: BanListener): void {
    this.banListeners.push(listener);
  }

  /** Has a listener told of each request of a client that has used much of a window. */
  onScarcity(listener: ScarcityListener): void {
    this.scarcityListeners.push(listener);
  }

  /** @throws {ApiError} 429 `rate_limit_exceeded` or `key_banned` */
  admit(quota: Quota, reply: ApiReply, further?: FurtherLimit): void | Promise<void> {
    const decision = this.store.take(quota.subject, quota.limits, further);
    if (decision instanceof Promise) {
      return decision.then(
        (each) => this.conclude(quota, each, reply),
        (failure) => this.failUncounted(failure, quota, reply),
      );
    }
    this.conclude(quota, decision, reply);
  }

  /** Tells what is left, and counts nothing: for a request that cannot be judged at this moment. */
  describe(quota: Quota, reply: ApiReply): void | Promise<void> {
    const { subject, limits } = quota;
    const tell = (state: Decision): void => setHeaders(limits, reportQuota(limits, state), reply);
    const state = this.store.peek(subject);
    if (!(state instanceof Promise)) return tell(state);
    return state.then(tell, (failure) => this.failUncounted(failure, quota, reply));
  }

  /** Where whoever counts does not answer: the limits, as if nothing of them were used. */
  private failUncounted(failure: unknown, { limits }: Quota, reply: ApiReply): never {
    const nowMs = this.clock.now();
    const [minute, day] = [minuteOf(nowMs), dayOf(nowMs)];
    const unused = { admitted: true, nowMs, minute, day, minuteUsed: 0, dayUsed: 0 };
    setHeaders(limits, reportQuota(limits, { ...unused, bannedUntilMs: 0 }), reply);
    throw failure;
  }

  /**
   * Counts a request that takes nothing of the quota against a limit of its own.
   * @throws {ApiError} 429 `rate_limit_exceeded`
   */
  async admitApart({ subject }: Quota, limits: Limits): Promise<void> {
    const { admitted, nowMs, minute } = await this.store.take(separateSubject(subject), limits);
    if (admitted) return;
    const seconds = secondsUntil(minuteEndUnix(minute), nowMs);
    throw errors.rate_limit_exceeded(
      `This may be asked ${limits.perMinute} times a minute; retry after ${seconds} s`,
      { headers: { 'Retry-After': String(seconds) } },
    );
  }

  private conclude(quota: Quota, decision: Decision, reply: ApiReply): void {
    const { limits, plan } = quota;
    const report = reportQuota(limits, decision);
    setHeaders(limits, report, reply);
    if (plan !== undefined) this.count(plan, decision, limits);
    if (decision.admitted) {
      if (plan === undefined || !isScarce(decision, limits)) return;
      for (const tell of this.scarcityListeners) tell(decision, quota, reply.request);
      return;
    }
    if (decision.newBan !== undefined) {
      const isHere = decision.beganBan ?? false;
      for (const tell of this.banListeners) tell(decision.newBan, reply.request, isHere);
    }
    throw refusalOf(decision, report);
  }

  private count(plan: string, decision: Decision, limits: Limits): void {
    const judgement = judgementOf(decision, limits);
    if (judgement !== undefined) this.decisions.inc({ plan, decision: judgement });
    if (decision.beganBan) this.bans.inc({ plan });
  }
}

function isScarce({ minuteUsed, dayUsed }: Decision, { perMinute, perDay }: Limits): boolean {
  return minuteUsed >= perMinute * SCARCE_FROM || dayUsed >= perDay * SCARCE_FROM;
}

/** What the plan says of a request; undefined where it is another limit that refuses it. */
function judgementOf(decision: Decision, limits: Limits): Judgement | undefined {
  if (decision.admitted) return 'admitted';
  if (decision.bannedUntilMs > 0) return 'banned';
  if (decision.dayUsed >= limits.perDay) return 'day';
  return decision.minuteUsed >= limits.perMinute ? 'minute' : undefined;
}

function setHeaders(limits: Limits, report: QuotaReport, reply: ApiReply): void {
  reply.header('x-ratelimit-limit', report.limit);
  reply.header('x-ratelimit-remaining', report.remaining);
  reply.header('x-ratelimit-reset', report.resetUnix);
  reply.header('ratelimit-policy', limits.policy);
  reply.header('ratelimit', report.rateLimit);
}

/** Who waits for `Retry-After` finds room everywhere. The headers speak of the plan alone. */
function refusalOf(decision: Decision, report: QuotaReport): ApiError {
  const { bannedUntilMs, furtherFullUntilMs = 0, nowMs } = decision;
  const isPlanFull = report.remaining === 0;
  const planSeconds = bannedUntilMs > 0 || isPlanFull ? report.retryAfterSeconds : 0;
  const furtherSeconds =
    furtherFullUntilMs > 0 ? secondsUntil(furtherFullUntilMs / 1000, nowMs) : 0;
  const seconds = Math.max(planSeconds, bannedUntilMs > 0 ? 0 : furtherSeconds, 1);
  const options = { headers: { 'Retry-After': String(seconds) } };
  const wait = `retry after ${seconds} s`;
  if (bannedUntilMs > 0) {
    return errors.key_banned(`Banned for going on after too many refusals; ${wait}`, options);
  }
  const which = isPlanFull ? 'The rate limit' : 'The rate limit of this operation';
  return errors.rate_limit_exceeded(`${which} is exceeded; ${wait}`, options);
}

/** The one window that `X-RateLimit-*` speaks of, and both for `RateLimit`. */
export interface QuotaReport {
  limit: number;
  remaining: number;
  /** Unix seconds, by the machine's clock. */
  resetUnix: number;
  /** draft-ietf-httpapi-ratelimit-headers: remaining `r`, and `t` in seconds from now. */
  rateLimit: string;
  /** How long a refused client has to wait: whole seconds, at least 1. */
  retryAfterSeconds: number;
}

/** Of the two windows the one with the fewest requests left; on a tie the one that resets later, the day. */
export function reportQuota(limits: Limits, decision: Decision): QuotaReport {
  const { nowMs, aheadMs = 0, bannedUntilMs } = decision;
  const minuteLeft = Math.max(0, limits.perMinute - decision.minuteUsed);
  const dayLeft = Math.max(0, limits.perDay - decision.dayUsed);
  const minuteReset = minuteEndUnix(decision.minute);
  const dayReset = dayEndUnix(decision.day);
  const byMinute = minuteLeft < dayLeft;
  const banned = bannedUntilMs > nowMs;
  const banEnd = bannedUntilMs / 1000;
  const resetUnix = banned ? Math.ceil(banEnd) : byMinute ? minuteReset : dayReset;
  // While banned, every window says what the ban says: a client that reads any of them waits long enough.
  const minuteTold = banned ? 0 : minuteLeft;
  const dayTold = banned ? 0 : dayLeft;
  return {
    limit: byMinute ? limits.perMinute : limits.perDay,
    remaining: banned ? 0 : byMinute ? minuteLeft : dayLeft,
    resetUnix: Math.ceil(resetUnix - aheadMs / 1000),
    rateLimit:
      `"minute";r=${minuteTold};t=${secondsUntil(banned ? banEnd : minuteReset, nowMs)},` +
      `"day";r=${dayTold};t=${secondsUntil(banned ? banEnd : dayReset, nowMs)}`,
    retryAfterSeconds: secondsUntil(banned ? banEnd : resetUnix, nowMs),
  };
}
