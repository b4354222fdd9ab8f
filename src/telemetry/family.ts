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
