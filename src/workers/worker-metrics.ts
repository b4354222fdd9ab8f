import type { Worker } from 'node:cluster';
import { NoMetrics } from '../telemetry/metrics.js';
import type { FromWorker, ToWorker } from './messages.js';

const PATIENCE_MS = 1_000;

/** The metrics of all workers, added up. A worker that does not answer in time is left out. */
export class WorkerMetrics extends NoMetrics {
  private readonly asked = new Map<number, (metrics: object[]) => void>();
  private lastId = 0;

  constructor(private readonly workers: () => readonly Worker[]) {
    super();
  }

  override async expose(): Promise<{ contentType: string; body: string }> {
    const { AggregatorRegistry } = await import('prom-client');
    const snapshots = await Promise.all(this.workers().map((worker) => this.ask(worker)));
    const all = AggregatorRegistry.aggregate(snapshots.filter(({ length }) => length > 0));
    return { contentType: all.contentType, body: await all.metrics() };
  }

  heard({ id, metrics }: Extract<FromWorker, { kind: 'metrics' }>): void {
    this.asked.get(id)?.(metrics);
  }

  private ask(worker: Worker): Promise<object[]> {
    return new Promise((resolve) => {
      const id = ++this.lastId;
      const conclude = (metrics: object[]): void => {
        clearTimeout(timer);
        this.asked.delete(id);
        resolve(metrics);
      };
      const timer = setTimeout(() => conclude([]), PATIENCE_MS);
      this.asked.set(id, conclude);
      if (worker.isConnected()) worker.send({ kind: 'tell metrics', id } satisfies ToWorker);
      else conclude([]);
    });
  }
}
