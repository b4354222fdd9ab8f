import { Injectable } from '@nestjs/common';
import {
  collectDefaultMetrics,
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client';
import { VERSION } from '../config/version.js';

const PREFIX = 'petstore_';
/** Default buckets of a histogram, in seconds. */
const SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/**
 * The metrics of this process, in one registry of prom-client. Every name gets the prefix
 * `petstore_`. A name that is taken, or that Prometheus does not accept, throws an Error.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  constructor() {
    const help = 'Release and version of Node.js; always 1.';
    const buildInfo = this.gauge({ name: 'build_info', help, labelNames: ['version', 'node'] });
    buildInfo.set({ version: VERSION, node: process.versions.node }, 1);
  }

  counter<Label extends string>(options: CounterConfiguration<Label>): Counter<Label> {
    return new Counter(this.registered(options));
  }

  histogram<Label extends string>(options: HistogramConfiguration<Label>): Histogram<Label> {
    return new Histogram({ buckets: SECONDS, ...this.registered(options) });
  }

  /** @param options `collect` is called at each scrape; if it throws, the scrape fails */
  gauge<Label extends string>(options: GaugeConfiguration<Label>): Gauge<Label> {
    return new Gauge(this.registered(options));
  }

  /** Adds the metrics of the process and of Node.js. */
  collectProcessMetrics(): void {
    collectDefaultMetrics({ register: this.registry, prefix: PREFIX });
    // Gauges that are named like counters, which `promtool check metrics` rejects.
    for (const what of ['handles', 'requests', 'resources']) {
      this.registry.removeSingleMetric(`${PREFIX}nodejs_active_${what}_total`);
    }
  }

  private registered<Configuration extends { name: string }>(options: Configuration) {
    return { ...options, name: PREFIX + options.name, registers: [this.registry] };
  }
}
