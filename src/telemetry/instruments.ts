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

  /** @param metric what it counts for, without the prefix */
  constructor(private readonly metric: string) {}

  /** @throws {RangeError} where it would fall, or be no number any more */
  add(by = 1): void {
    if (!(by >= 0 && by < Infinity)) throw new RangeError(`${this.metric} cannot grow by ${by}`);
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
  return new Family(options.labels ?? [], () => new Count(options.name));
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

/** A label's value: it becomes text when somebody reads the metrics. */
export type Label = string | number;

/** Names and labels that a caller can make up would fill every memory behind us. */
const MAX_SERIES = 5_000;
/** What is past that is counted together. */
const OTHER = 'other';

type Node<Series> = Map<Label, Node<Series> | Series>;

/** One metric: a series for every combination of its labels' values, found without making a text of them. */
export class Family<Series> {
  private readonly root: Node<Series> = new Map();
  private readonly all: [labels: readonly Label[], series: Series][] = [];

  constructor(
    readonly labels: readonly string[],
    private readonly make: () => Series,
    private readonly maxSeries = MAX_SERIES,
  ) {}

  /** The series of these values, which are in the order of the labels. */
  of(...values: readonly Label[]): Series {
    let node: Node<Series> = this.root;
    for (let index = 0; index < values.length - 1; index++) {
      const next = node.get(values[index]!);
      if (next === undefined) return this.add(values);
      node = next as Node<Series>;
    }
    const series = node.get(values.length === 0 ? '' : values[values.length - 1]!);
    return series === undefined ? this.add(values) : (series as Series);
  }

  /** Every series with its labels, as Prometheus has them. */
  *[Symbol.iterator](): Generator<[labels: Record<string, Label>, series: Series]> {
    for (const [values, series] of this.all) {
      const named = this.labels.map((label, index) => [label, values[index]!] as const);
      yield [Object.fromEntries(named), series];
    }
  }

  private add(values: readonly Label[]): Series {
    if (values.length !== this.labels.length) {
      throw new Error(`A metric with the labels [${this.labels.join()}] is given ${values.length}`);
    }
    const others = values.map(() => OTHER);
    const isFull = this.all.length >= this.maxSeries;
    if (isFull && !values.every((value) => value === OTHER)) return this.of(...others);
    let node = this.root;
    for (const value of values.slice(0, -1)) {
      const next = (node.get(value) ?? new Map()) as Node<Series>;
      node.set(value, next);
      node = next;
    }
    const series = this.make();
    node.set(values.at(-1) ?? '', series);
    this.all.push([values, series]);
    return series;
  }
}
