import type { Instrument, MetricOptions } from './instruments.js';

/** As Prometheus has them; a colon is for its own rules. */
const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** It keeps for itself what begins so. */
const RESERVED = '__';
/** The bound of a histogram's bucket. */
const BOUND = 'le';

type Kind = Instrument['type'];

interface Known {
  kind: Kind;
  labels: readonly string[];
  metric: unknown;
}

/** The metrics that were asked for. One that could not be read would take all others along. */
export class KnownMetrics {
  private readonly byName = new Map<string, Known>();

  /**
   * The metric that there is by that name, or else a new one. A gauge is read by whoever asked for it, and is
   * nobody else's.
   * @throws where Prometheus could not read it, or where there is another one by that name
   */
  get<Metric>(kind: Kind, { name, labels = [] }: MetricOptions, make: () => Metric): Metric {
    const known = this.byName.get(name);
    if (known === undefined) {
      refuseUnreadable(kind, name, labels);
      const metric = make();
      this.byName.set(name, { kind, labels: [...labels], metric });
      return metric;
    }
    if (kind === 'gauge' || kind !== known.kind || labels.join() !== known.labels.join()) {
      const [asked, there] = [describe(kind, labels), describe(known.kind, known.labels)];
      throw new Error(`The metric ${name} cannot be ${asked}: there is ${there} of that name`);
    }
    return known.metric as Metric;
  }
}

/** Which of them Prometheus would not take. */
export function unreadableLabel(labels: readonly string[]): string | undefined {
  return labels.find((label) => !NAME.test(label) || label.startsWith(RESERVED));
}

function refuseUnreadable(kind: Kind, name: string, labels: readonly string[]): void {
  if (!NAME.test(name)) {
    throw new Error(`Prometheus takes no metric of the name ${JSON.stringify(name)}`);
  }
  const label =
    unreadableLabel(labels) ??
    labels.find((each) => kind === 'histogram' && each === BOUND) ??
    labels.find((each, index) => labels.indexOf(each) !== index);
  if (label === undefined) return;
  throw new Error(`The metric ${name} cannot have the label ${JSON.stringify(label)}`);
}

function describe(kind: Kind, labels: readonly string[]): string {
  return `a ${kind} with the labels [${labels.join()}]`;
}
