import {
  counterFamily,
  type CounterMetric,
  type GaugeOptions,
  histogramFamily,
  type HistogramMetric,
  type HistogramOptions,
  type MetricOptions,
} from './instruments.js';

export type QuotaStoreMode = 'memory' | 'redis' | 'fallback';

/**
 * The service's Prometheus metrics; every name carries the prefix `petstore_`. Who asks for a counter or a
 * histogram that there is already is given that one.
 */
export abstract class Metrics {
  abstract counter(options: MetricOptions): CounterMetric;
  abstract histogram(options: HistogramOptions): HistogramMetric;
  abstract gauge(options: GaugeOptions): void;
  abstract setQuotaStore(mode: QuotaStoreMode): void;
  /** The metrics as prom-client gathers those of several processes. */
  abstract snapshot(): Promise<object[]>;
  /** The text exposition format, and its content type. */
  abstract expose(): Promise<{ contentType: string; body: string }>;
}

/** Used where `METRICS_PORT` is 0: nobody can read what is counted. */
export class NoMetrics extends Metrics {
  counter(options: MetricOptions): CounterMetric {
    return counterFamily(options);
  }
  histogram(options: HistogramOptions): HistogramMetric {
    return histogramFamily(options);
  }
  gauge(): void {}
  setQuotaStore(): void {}
  snapshot(): Promise<object[]> {
    return Promise.resolve([]);
  }
  expose(): Promise<{ contentType: string; body: string }> {
    return Promise.resolve({ contentType: 'text/plain', body: '' });
  }
}
