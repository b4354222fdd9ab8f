import { randomInt } from 'node:crypto';
import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Config } from '../config/config.js';
import { errors } from '../errors/errors.js';
import { replyOf, requestOf } from '../http/request.js';
import { Transport } from '../http/transport.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import type { Quota } from './limits.js';
import { RateLimiter } from './rate-limiter.js';

const SAMPLE_MS = 50;
/**
 * The event loop must lag for this long before requests are shed, so that a single pause does not
 * cause it.
 */
const SUSTAINED_MS = 1_000;

/**
 * Measures the lag of the event loop, and how long requests wait for their turn in it. The server
 * is overloaded while every sample has been above `SHED_AFTER_MS` for a second, until one is below.
 */
@Injectable()
export class OverloadMonitor implements OnApplicationBootstrap, OnApplicationShutdown {
  isOverloaded = false;
  readonly shedRequests: Counter;
  private timer: NodeJS.Timeout | undefined;
  private lateSinceMs = Infinity;

  constructor(
    private readonly config: Config,
    metrics: Metrics,
    private readonly logger: Logger,
    private readonly transport: Transport,
  ) {
    this.shedRequests = metrics.counter({
      name: 'shed_total',
      help: 'Requests rejected with 503 because the event loop lagged for too long.',
    });
  }

  onApplicationBootstrap(): void {
    if (this.config.shedAfterMs === 0) return;
    let dueMs = performance.now() + SAMPLE_MS;
    // `monitorEventLoopDelay()` does not fit: after a reset it skips one interval, so a window may
    // have no value.
    this.timer = setInterval(() => {
      const nowMs = performance.now();
      this.sample(Math.max(nowMs - dueMs, this.transport.queue.takeLongestWaitMs()), nowMs);
      dueMs = nowMs + SAMPLE_MS;
    }, SAMPLE_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Adds a sample of event-loop lag. */
  sample(lagMs: number, nowMs: number): void {
    const isLate = lagMs > this.config.shedAfterMs;
    this.lateSinceMs = isLate ? Math.min(this.lateSinceMs, nowMs) : Infinity;
    const isOverloaded = nowMs - this.lateSinceMs >= SUSTAINED_MS;
    if (isOverloaded === this.isOverloaded) return;
    this.isOverloaded = isOverloaded;
    if (isOverloaded) {
      const details = { event: 'shed', phase: 'began', lateMs: Math.round(lagMs) };
      this.logger.warn(details, 'Overloaded: rejecting requests with 503');
    } else {
      this.logger.info({ event: 'shed', phase: 'ended' }, 'No longer overloaded');
    }
  }
}

/**
 * Rejects authenticated requests with 503 during an overload. They consume no quota, and their
 * headers describe it.
 */
@Injectable()
export class OverloadGuard implements CanActivate {
  constructor(
    private readonly monitor: OverloadMonitor,
    private readonly limiter: RateLimiter,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<never> {
    const { caller } = requestOf(context);
    return this.monitor.isOverloaded && caller ? this.shed(caller.quota, context) : true;
  }

  private async shed(quota: Quota, context: ExecutionContext): Promise<never> {
    this.monitor.shedRequests.inc();
    await this.limiter.describe(quota, replyOf(context));
    // Different times, so that clients do not return together.
    const headers = { 'Retry-After': String(randomInt(1, 4)) };
    throw errors.service_unavailable('The service is overloaded', { headers });
  }
}
