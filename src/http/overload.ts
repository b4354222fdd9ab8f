import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Config } from '../config/config.js';
import type { Count } from '../telemetry/instruments.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { Shedding } from './shedding.js';

const SAMPLE_MS = 50;

/** Measures how late the event loop is, and says of which requests it has to be relieved. */
@Injectable()
export class Overload implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly shedding: Shedding | undefined;
  private readonly shedRequests: Count;
  private timer: NodeJS.Timeout | undefined;
  private dueAtMs = 0;
  private busy = performance.eventLoopUtilization();
  private requestsBefore = 0;

  constructor(
    { shedAfterMs }: Config,
    metrics: Metrics,
    private readonly logger: Logger,
  ) {
    this.shedRequests = metrics
      .counter({
        name: 'shed_total',
        help: 'Requests that were answered 503 because the event loop was late for too long.',
      })
      .of();
    if (shedAfterMs > 0) this.shedding = new Shedding(shedAfterMs);
  }

  onApplicationBootstrap(): void {
    if (this.shedding !== undefined) this.expect();
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  /** Whether to refuse the request at hand. */
  sheds(): boolean {
    const share = this.shedding?.share ?? 0;
    if (share === 0 || Math.random() >= share) return false;
    this.shedRequests.add();
    return true;
  }

  private expect(): void {
    this.dueAtMs = performance.now() + SAMPLE_MS;
    this.timer = setTimeout(() => {
      const nowMs = performance.now();
      const busy = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(busy, this.busy);
      this.busy = busy;
      this.take(nowMs - this.dueAtMs, utilization, nowMs);
      this.expect();
    }, SAMPLE_MS).unref();
  }

  private take(lateMs: number, utilization: number, nowMs: number): void {
    const shedding = this.shedding!;
    const wasShedding = shedding.share > 0;
    shedding.take(lateMs, utilization, nowMs);
    const isShedding = shedding.share > 0;
    if (isShedding === wasShedding) return;
    if (isShedding) {
      this.requestsBefore = this.shedRequests.value;
      const details = { event: 'shedding.began', lateMs: Math.round(lateMs) };
      this.logger.warn(details, 'Overloaded: a share of the requests is answered 503');
    } else {
      const requests = this.shedRequests.value - this.requestsBefore;
      const details = { event: 'shedding.ended', requests };
      this.logger.info(details, 'No longer overloaded: every request is answered again');
    }
  }
}
