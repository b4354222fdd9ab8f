import { Injectable } from '@nestjs/common';
import { exponentialBuckets, type Histogram } from 'prom-client';
import { Metrics } from '../telemetry/metrics.js';
import type { PoolState } from './database.js';

@Injectable()
export class DatabaseMetrics {
  readonly batchSizes: Histogram;
  private readonly durations: Histogram<'statement'>;

  constructor(private readonly metrics: Metrics) {
    this.durations = metrics.histogram({
      name: 'database_query_duration_seconds',
      help: 'Time from sending a statement to its answer, by the name of the statement.',
      labelNames: ['statement'],
    });
    this.batchSizes = metrics.histogram({
      name: 'commit_batch_size',
      help: 'Writes that one commit made durable together.',
      buckets: exponentialBuckets(1, 2, 11),
    });
  }

  /** @param startedAtMs by `performance.now()` */
  observe(statement: string, startedAtMs: number): void {
    this.durations.observe({ statement }, (performance.now() - startedAtMs) / 1000);
  }

  async time<Result>(statement: string, answer: Promise<Result>): Promise<Result> {
    const startedAtMs = performance.now();
    try {
      return await answer;
    } finally {
      this.observe(statement, startedAtMs);
    }
  }

  watchPool(pool: () => PoolState): void {
    this.metrics.gauge({
      name: 'database_pool',
      help: 'Connections for requests in use and idle, and requests waiting for one. On SQLite, the one writer.',
      labelNames: ['state'],
      collect() {
        for (const [state, connections] of Object.entries(pool())) this.set({ state }, connections);
      },
    });
  }
}
