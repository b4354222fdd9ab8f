import type { Metric, Registry } from 'prom-client';

/** Upper bounds, in seconds; what is slower is in the total alone. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const REQUESTS = 'petstore_http_requests_total';
const DURATIONS = 'petstore_http_request_duration_seconds';

interface OperationStatistics {
  statuses: Map<number, number>;
  /** By the index of the smallest bound that was not exceeded; the last is for none. */
  buckets: number[];
  seconds: number;
}

interface Sample {
  metricName?: string;
  labels: Record<string, string | number>;
  value: number;
}

/**
 * How many requests were answered, and how long that took. prom-client's own counter and histogram make
 * an object and a text of the labels for every request; these are made when somebody reads them.
 */
export class RequestStatistics {
  private readonly operations = new Map<string, OperationStatistics>();

  count(operation: string, status: number, seconds: number): void {
    const statistics = this.of(operation);
    const { statuses, buckets } = statistics;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    let index = 0;
    while (index < BOUNDS.length && seconds > BOUNDS[index]!) index++;
    buckets[index]!++;
    statistics.seconds += seconds;
  }

  /** Has the registry expose them as a counter and a histogram. */
  registerIn(registry: Registry): void {
    const counter = {
      name: REQUESTS,
      help: 'Answered requests by operation and status.',
      type: 'counter',
      get: () => ({ ...counter, aggregator: 'sum', values: this.requests() }),
    };
    const histogram = {
      name: DURATIONS,
      help: 'Time from the request line to the last byte of the answer.',
      type: 'histogram',
      get: () => ({ ...histogram, aggregator: 'sum', values: this.durations() }),
    };
    for (const metric of [counter, histogram]) {
      registry.registerMetric(metric as unknown as Metric);
    }
  }

  private of(operation: string): OperationStatistics {
    let statistics = this.operations.get(operation);
    if (statistics === undefined) {
      const buckets = new Array<number>(BOUNDS.length + 1).fill(0);
      statistics = { statuses: new Map(), buckets, seconds: 0 };
      this.operations.set(operation, statistics);
    }
    return statistics;
  }

  private requests(): Sample[] {
    return [...this.operations].flatMap(([operation, { statuses }]) =>
      [...statuses].map(([status, value]) => ({ labels: { operation, status }, value })),
    );
  }

  private durations(): Sample[] {
    return [...this.operations].flatMap(([operation, { buckets, seconds }]) => {
      const labels = { operation };
      let count = 0;
      const samples: Sample[] = buckets.map((requests, index) => ({
        metricName: `${DURATIONS}_bucket`,
        labels: { le: BOUNDS[index] ?? '+Inf', operation },
        value: (count += requests),
      }));
      samples.push({ metricName: `${DURATIONS}_sum`, labels, value: seconds });
      samples.push({ metricName: `${DURATIONS}_count`, labels, value: count });
      return samples;
    });
  }
}
