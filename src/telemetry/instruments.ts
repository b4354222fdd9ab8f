import { Family, type Label } from './family.js';

/** What a metric is called, without the prefix `petstore_`, and what it tells. */
export interface MetricOptions {
  name: string;
  help: string;
  labels?: readonly string[];
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending; by default seconds, from a tenth of a millisecond to ten. */
  buckets?: readonly number[];
}

export interface GaugeOptions extends MetricOptions {
  /** What it is at this moment: asked when somebody reads the metrics. */
  read: () => Iterable<readonly [labels: Record<string, Label>, value: number]>;
  /** What several processes of one server make together. */
  together?: 'sum' | 'max';
}

/** Of one combination of labels. */
export class Count {
  value = 0;

  add(by = 1): void {
    this.value += by;
  }
}

/** Of one combination of labels: how many observations were not above each bound, and their sum. */
export class Observations {
  /** By the index of the smallest bound that was not exceeded; the last is for none. */
  readonly counts: number[];
  sum = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const { bounds } = this;
    let index = 0;
    while (index < bounds.length && value > bounds[index]!) index++;
    this.counts[index]!++;
    this.sum += value;
  }
}

export type CounterMetric = Family<Count>;
export type HistogramMetric = Family<Observations>;

const SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export interface Sample {
  metricName?: string;
  labels: Record<string, Label>;
  value: number;
}

/** What is read of an instrument, in the words of Prometheus. */
export interface Instrument {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  aggregator: 'sum' | 'max';
  samples: () => Sample[];
}

export function counterFamily(options: MetricOptions): CounterMetric {
  return new Family(options.labels ?? [], () => new Count());
}

export function histogramFamily(options: HistogramOptions): HistogramMetric {
  const { labels = [], buckets = SECONDS } = options;
  return new Family(labels, () => new Observations(buckets));
}

export function counterSamples(family: CounterMetric): Sample[] {
  return Array.from(family, ([labels, { value }]) => ({ labels, value }));
}

export function histogramSamples(
  name: string,
  { buckets = SECONDS }: HistogramOptions,
  family: HistogramMetric,
): Sample[] {
  return Array.from(family).flatMap(([labels, { counts, sum }]) => {
    let count = 0;
    const samples: Sample[] = counts.map((observations, index) => ({
      metricName: `${name}_bucket`,
      labels: { le: buckets[index] ?? '+Inf', ...labels },
      value: (count += observations),
    }));
    samples.push({ metricName: `${name}_sum`, labels, value: sum });
    samples.push({ metricName: `${name}_count`, labels, value: count });
    return samples;
  });
}
