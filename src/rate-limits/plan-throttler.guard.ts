import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  getOptionsToken,
  getStorageToken,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { Counter } from 'prom-client';
import { Config } from '../config/config.js';
import { errors } from '../errors/errors.js';
import { beginAll, takeLongestWaitMs } from '../http/inlet.js';
import { throttlingOf } from '../http/nest-metadata.js';
import { type ApiReply, PerOperation, replyOf, requestOf } from '../http/request-context.js';
import { waitedMs } from '../http/transport.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { AdmissionQueue } from '../http/admission-queue.js';
import { COUNTED_APART } from './counted-apart.decorator.js';
import type { Limits, Quota } from './limits.js';
import { RateLimiter } from './rate-limiter.js';
import { Shedding } from './shedding.js';

const SAMPLE_MS = 50;

/** Measures how late the event loop is, and whoever waits for a turn of it: of which requests it has to be relieved. */
@Injectable()
export class Overload implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly shedding: Shedding | undefined;
  private readonly shedRequests: Counter;
  private timer: NodeJS.Timeout | undefined;
  private dueAtMs = 0;
  private busy = performance.eventLoopUtilization();
  private shedSinceStart = 0;
  private isTurnNoted = false;

  constructor(
    { shedAfterMs }: Config,
    metrics: Metrics,
    private readonly logger: Logger,
    private readonly line: AdmissionQueue,
  ) {
    this.shedRequests = metrics.counter({
      name: 'shed_total',
      help: 'Requests that were answered 503 because the event loop was late for too long.',
    });
    if (shedAfterMs > 0) this.shedding = new Shedding(shedAfterMs);
  }

  onApplicationBootstrap(): void {
    if (this.shedding !== undefined) this.expect();
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
    if (this.shedding?.isOn) beginAll(false);
  }

  /** Whether to refuse the request at hand. */
  sheds(reply: ApiReply): boolean {
    const { shedding } = this;
    if (shedding === undefined) return false;
    if (!shedding.isOn) {
      shedding.admitted++;
      return false;
    }
    if (!this.isTurnNoted) {
      this.isTurnNoted = true;
      setImmediate(this.endTurn);
    }
    if (!shedding.refuses(waitedMs(reply))) return false;
    this.shedSinceStart++;
    this.shedRequests.inc();
    return true;
  }

  private readonly endTurn = (): void => {
    this.isTurnNoted = false;
    this.shedding!.turn(performance.now());
  };

  private expect(): void {
    this.dueAtMs = performance.now() + SAMPLE_MS;
    this.timer = setTimeout(() => {
      const nowMs = performance.now();
      const busy = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(busy, this.busy);
      this.busy = busy;
      // Many callers are late while the loop itself is not: so many begin in each of its turns, and no more.
      const lateMs = Math.max(nowMs - this.dueAtMs, takeLongestWaitMs(), this.line.takeLongestMs());
      this.take(lateMs, utilization, nowMs);
      this.expect();
    }, SAMPLE_MS).unref();
  }

  private take(lateMs: number, utilization: number, nowMs: number): void {
    const shedding = this.shedding!;
    const wasShedding = shedding.isOn;
    shedding.take(lateMs, utilization, nowMs);
    const isShedding = shedding.isOn;
    if (isShedding === wasShedding) return;
    // Who is to be refused should not have to wait for it.
    beginAll(isShedding);
    this.line.readAll(isShedding);
    if (isShedding) {
      this.shedSinceStart = 0;
      const details = { event: 'shed', phase: 'began', lateMs: Math.round(lateMs) };
      this.logger.warn(details, 'Overloaded: a share of the requests is answered 503');
    } else {
      const details = { event: 'shed', phase: 'ended', requests: this.shedSinceStart };
      this.logger.info(details, 'No longer overloaded: every request is answered again');
    }
  }
}

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
