import type { Worker } from 'node:cluster';
import type { MetricObject } from 'prom-client';
import { Metrics } from '../telemetry/metrics.js';
import type { FromWorker, ToWorker } from './messages.js';

const PATIENCE_MS = 1_000;
/** What only ever grows: it is still true of a process that is gone. */
const GROWING: readonly string[] = ['counter', 'histogram'];

type Snapshot = readonly object[];

/**
 * The metrics of all workers, added up. Of a worker that does not answer in time, what it told last; of one that
 * has ended, what it has counted until then: a counter that fell would be taken for one that began again.
 */
export class WorkerMetrics extends Metrics {
  private readonly asked = new Map<number, (metrics: Snapshot) => void>();
  private readonly told = new Map<Worker, Snapshot>();
  private ended: Snapshot = [];
  private lastId = 0;

  constructor(private readonly workers: () => readonly Worker[]) {
    super();
  }

  override async expose(): Promise<{ contentType: string; body: string }> {
    const { AggregatorRegistry } = await import('prom-client');
    const addUp = (snapshots: readonly Snapshot[]) => AggregatorRegistry.aggregate([...snapshots]);
    await Promise.all(this.workers().map((worker) => this.ask(worker)));
    const running = this.workers();
    for (const [worker, metrics] of this.told) {
      if (running.includes(worker)) continue;
      this.told.delete(worker);
      this.ended = addUp([this.ended, metrics.filter(isGrowing)]).getMetricsAsArray();
    }
    const all = addUp([this.ended, ...this.told.values()]);
    return { contentType: all.contentType, body: await all.metrics() };
  }

  heard({ id, metrics }: Extract<FromWorker, { kind: 'metrics' }>): void {
    this.asked.get(id)?.(metrics);
  }

  private ask(worker: Worker): Promise<void> {
    return new Promise((resolve) => {
      const id = ++this.lastId;
      const conclude = (metrics: Snapshot): void => {
        clearTimeout(timer);
        this.asked.delete(id);
        if (metrics.length > 0) this.told.set(worker, metrics);
        resolve();
      };
      const timer = setTimeout(() => conclude([]), PATIENCE_MS);
      this.asked.set(id, conclude);
      if (worker.isConnected()) worker.send({ kind: 'tell metrics', id } satisfies ToWorker);
      else conclude([]);
    });
  }
}

function isGrowing(metric: object): boolean {
  return GROWING.includes(String((metric as MetricObject).type));
}
