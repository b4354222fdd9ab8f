import { Injectable } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import { RateLimitStore } from '../rate-limits/rate-limit-store.js';

const PING_TIMEOUT_MS = 1_000;

export interface ReadinessReport {
  status: 'ok' | 'degraded' | 'unavailable';
  checks: { database: 'ok' | 'unavailable'; counters: 'memory' | 'redis' | 'fallback' };
}

/** Whether this node should be sent requests. */
@Injectable()
export class Readiness {
  private draining = false;

  constructor(
    private readonly engine: Engine,
    private readonly counters: RateLimitStore,
  ) {}

  /** From now on other nodes are to be asked. */
  drain(): void {
    this.draining = true;
  }

  get isDraining(): boolean {
    return this.draining;
  }

  async check(): Promise<ReadinessReport> {
    const database = (await this.isDatabaseReachable()) ? 'ok' : 'unavailable';
    const counters = this.counters.mode;
    const degraded = counters === 'fallback' ? 'degraded' : 'ok';
    const status = this.draining || database !== 'ok' ? 'unavailable' : degraded;
    return { status, checks: { database, counters } };
  }

  private async isDatabaseReachable(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('The database did not answer')), PING_TIMEOUT_MS);
    });
    try {
      await Promise.race([this.engine.ping(), timeout]);
      return true;
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
    }
  }
}
