import {
  counterFamily,
  type CounterMetric,
  type GaugeOptions,
  histogramFamily,
  type HistogramMetric,
  type HistogramOptions,
  type MetricOptions,
} from './instruments.js';
import { KnownMetrics } from './known-metrics.js';

export type QuotaStoreMode = 'memory' | 'redis' | 'fallback';

/**
 * The service's Prometheus metrics; every name carries the prefix `petstore_`. Who asks for a counter or a
 * histogram of the name and labels of one that there is already is given that one, with its help and buckets. What
 * Prometheus could not read, and other labels or another kind under the same name, is an Error.
 */
export abstract class Metrics {
  /** Of `add` of a counter, what is no number from 0 on is a RangeError: it never falls. */
  abstract counter(options: MetricOptions): CounterMetric;
  abstract histogram(options: HistogramOptions): HistogramMetric;
  abstract gauge(options: GaugeOptions): void;
  abstract setQuotaStore(mode: QuotaStoreMode): void;
  /** The metrics as prom-client gathers those of several processes. */
  abstract snapshot(): Promise<object[]>;
  /** The text exposition format, and its content type. */
  abstract expose(): Promise<{ contentType: string; body: string }>;
}

/** Used where `METRICS_PORT` is 0: nobody can read what is counted. It refuses what would be refused elsewhere. */
export class NoMetrics extends Metrics {
  private readonly known = new KnownMetrics();

  counter(options: MetricOptions): CounterMetric {
    return this.known.get('counter', options, () => counterFamily(options));
  }
  histogram(options: HistogramOptions): HistogramMetric {
    return this.known.get('histogram', options, () => histogramFamily(options));
  }
  gauge(options: GaugeOptions): void {
    this.known.get('gauge', options, () => undefined);
  }
  setQuotaStore(): void {}
  snapshot(): Promise<object[]> {
    return Promise.resolve([]);
  }
  expose(): Promise<{ contentType: string; body: string }> {
    return Promise.resolve({ contentType: 'text/plain', body: '' });
  }
}
