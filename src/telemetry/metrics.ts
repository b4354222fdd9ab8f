import type { Gauge, Registry } from 'prom-client';
import { RequestStatistics } from './request-statistics.js';

export type CounterStoreMode = 'memory' | 'redis' | 'fallback';
const COUNTER_STORE_MODES: readonly CounterStoreMode[] = ['memory', 'redis', 'fallback'];

/** The service's Prometheus metrics; every name carries the prefix `petstore_`. */
export abstract class Metrics {
  /** One answered request; `operation` is an operation id or `unknown`. */
  abstract countRequest(operation: string, status: number, seconds: number): void;
  abstract setCounterStore(mode: CounterStoreMode): void;
  /** The metrics as prom-client gathers those of several processes. */
  abstract snapshot(): Promise<object[]>;
  /** The text exposition format, and its content type. */
  abstract expose(): Promise<{ contentType: string; body: string }>;
}

/** Used where `METRICS_PORT` is 0: nobody can read them, so nothing is counted. */
export class NoMetrics extends Metrics {
  countRequest(): void {}
  setCounterStore(): void {}
  snapshot(): Promise<object[]> {
    return Promise.resolve([]);
  }
  expose(): Promise<{ contentType: string; body: string }> {
    return Promise.resolve({ contentType: 'text/plain', body: '' });
  }
}

export class PrometheusMetrics extends Metrics {
  private readonly requests = new RequestStatistics();
  private readonly counterStore: Gauge;

  private constructor(
    prom: typeof import('prom-client'),
    private readonly registry: Registry,
  ) {
    super();
    prom.collectDefaultMetrics({ register: registry, prefix: 'petstore_' });
    this.requests.registerIn(registry);
    this.counterStore = new prom.Gauge({
      name: 'petstore_counter_store',
      help: 'Where requests are counted: 1 for the mode in force.',
      labelNames: ['mode'],
      aggregator: 'max',
      registers: [registry],
    });
  }

  /** Loads prom-client on demand: a server without metrics does not pay for it. */
  static async create(): Promise<PrometheusMetrics> {
    const prom = await import('prom-client');
    return new PrometheusMetrics(prom, new prom.Registry());
  }

  countRequest(operation: string, status: number, seconds: number): void {
    this.requests.count(operation, status, seconds);
  }

  setCounterStore(mode: CounterStoreMode): void {
    for (const each of COUNTER_STORE_MODES) {
      this.counterStore.set({ mode: each }, each === mode ? 1 : 0);
    }
  }

  snapshot(): Promise<object[]> {
    return this.registry.getMetricsAsJSON();
  }

  async expose(): Promise<{ contentType: string; body: string }> {
    return { contentType: this.registry.contentType, body: await this.registry.metrics() };
  }
}
