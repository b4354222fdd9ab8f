import { Logger } from '@nestjs/common';
import type { Metric, Registry } from 'prom-client';
import { VERSION } from '../config/version.js';
import {
  counterFamily,
  type CounterMetric,
  counterSamples,
  type GaugeOptions,
  histogramFamily,
  type HistogramMetric,
  type HistogramOptions,
  histogramSamples,
  type Instrument,
  type MetricOptions,
  type Sample,
} from './instruments.js';
import { KnownMetrics, unreadableLabel } from './known-metrics.js';
import { Metrics, type QuotaStoreMode } from './metrics.js';

const PREFIX = 'petstore_';
const QUOTA_STORE_MODES: readonly QuotaStoreMode[] = ['memory', 'redis', 'fallback'];

/** prom-client's: gauges under the name of a counter. */
const MISNAMED = ['handles', 'requests', 'resources'].map(
  (what) => `${PREFIX}nodejs_active_${what}_total`,
);

const RESIDENT = 'process_resident_memory_bytes';

/**
 * Counts in instruments of our own, since prom-client's make an object and a text of the labels for every
 * observation; it tells them, and adds those of Node.
 */
export class PrometheusMetrics extends Metrics {
  private readonly known = new KnownMetrics();
  private readonly quotaStoreSwitches: CounterMetric;
  private quotaStoreMode: QuotaStoreMode | undefined;

  private constructor(
    prom: typeof import('prom-client'),
    private readonly registry: Registry,
  ) {
    super();
    prom.collectDefaultMetrics({ register: registry, prefix: PREFIX });
    for (const name of [...MISNAMED, PREFIX + RESIDENT]) registry.removeSingleMetric(name);
    // Whether a process grows shows in the largest of several; prom-client would add them up.
    this.gauge({
      name: RESIDENT,
      help: 'Resident memory size in bytes; of several workers, of the largest.',
      together: 'max',
      read: () => [[{}, process.memoryUsage.rss()]],
    });
    const build = { version: VERSION, node: process.versions.node };
    this.gauge({
      name: 'build_info',
      help: 'Which release runs, and on which Node.js; always 1.',
      together: 'max',
      read: () => [[build, 1]],
    });
    this.gauge({
      name: 'quota_store',
      help: 'Where requests are counted: 1 for the mode in force.',
      together: 'max',
      read: () => this.quotaStore(),
    });
    this.quotaStoreSwitches = this.counter({
      name: 'quota_store_switches_total',
      help: 'How often requests began to be counted elsewhere than before, by where.',
      labels: ['mode'],
    });
  }

  /** Loads prom-client on demand: a server without metrics does not pay for it. */
  static async create(): Promise<PrometheusMetrics> {
    const prom = await import('prom-client');
    return new PrometheusMetrics(prom, new prom.Registry());
  }

  counter(options: MetricOptions): CounterMetric {
    return this.known.get('counter', options, () => {
      const family = counterFamily(options);
      const samples = () => counterSamples(family);
      this.register({ ...options, type: 'counter', aggregator: 'sum', samples });
      return family;
    });
  }

  histogram(options: HistogramOptions): HistogramMetric {
    return this.known.get('histogram', options, () => {
      const family = histogramFamily(options);
      const samples = () => histogramSamples(PREFIX + options.name, options, family);
      this.register({ ...options, type: 'histogram', aggregator: 'sum', samples });
      return family;
    });
  }

  gauge(options: GaugeOptions): void {
    const { name, help, read, together = 'sum' } = options;
    let isFaulty = false;
    // It may be a guest's: what is wrong with it is not to take the other metrics along.
    const samples = () => {
      try {
        const values = Array.from(read(), readable);
        isFaulty = false;
        return values;
      } catch (error) {
        // Once, however often it is read.
        if (!isFaulty) new Logger(name).error(error);
        isFaulty = true;
        return [];
      }
    };
    this.known.get('gauge', options, () =>
      this.register({ name, help, type: 'gauge', aggregator: together, samples }),
    );
  }

  setQuotaStore(mode: QuotaStoreMode): void {
    if (mode === this.quotaStoreMode) return;
    this.quotaStoreSwitches.of(mode).add(this.quotaStoreMode === undefined ? 0 : 1);
    this.quotaStoreMode = mode;
  }

  snapshot(): Promise<object[]> {
    return this.registry.getMetricsAsJSON();
  }

  async expose(): Promise<{ contentType: string; body: string }> {
    return { contentType: this.registry.contentType, body: await this.registry.metrics() };
  }

  private quotaStore(): [{ mode: string }, number][] {
    return QUOTA_STORE_MODES.map((mode) => [{ mode }, mode === this.quotaStoreMode ? 1 : 0]);
  }

  private register({ name, samples, ...described }: Instrument): void {
    const named = { ...described, name: PREFIX + name };
    const metric = { ...named, get: () => ({ ...named, values: samples() }) };
    // All that the registry asks of a metric; its type wants one of its own classes.
    this.registry.registerMetric(metric as unknown as Metric);
  }
}

/** @throws where Prometheus could not read it */
function readable([labels, value]: readonly [Sample['labels'], number]): Sample {
  const label = unreadableLabel(Object.keys(labels));
  if (label !== undefined)
    throw new Error(`A gauge cannot have the label ${JSON.stringify(label)}`);
  if (typeof value !== 'number') throw new Error(`A gauge cannot be ${String(value)}`);
  return { labels, value };
}
