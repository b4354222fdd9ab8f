import type { Worker } from 'node:cluster';
import { PrometheusMetrics } from '../telemetry/prometheus.metrics.js';
import type { ToWorker } from './messages.js';
import { WorkerMetrics } from './worker-metrics.js';

const requests = { name: 'requests_total', help: 'Requests.', labels: [] };

/** A worker that has counted so many requests, and tells of them when it is asked, unless it is stuck. */
async function workerOf(count: number, metrics: () => WorkerMetrics) {
  const own = await PrometheusMetrics.create();
  own.counter(requests).of().add(count);
  own.setQuotaStore('memory');
  const state = { isStuck: false };
  const send = ({ id }: Extract<ToWorker, { kind: 'tell metrics' }>): void => {
    if (state.isStuck) return;
    void own.snapshot().then((snapshot) => {
      metrics().heard({ kind: 'metrics', id, metrics: snapshot });
    });
  };
  return { worker: { isConnected: () => true, send } as unknown as Worker, state };
}

describe(WorkerMetrics.name, () => {
  const workers: Worker[] = [];
  let metrics: WorkerMetrics;
  beforeEach(() => {
    workers.length = 0;
    metrics = new WorkerMetrics(() => [...workers]);
  });
  const linesOf = async (): Promise<string[]> => (await metrics.expose()).body.split('\n');
  const begin = async (count: number) => {
    const begun = await workerOf(count, () => metrics);
    workers.push(begun.worker);
    return begun;
  };

  it('adds up what the workers tell', async () => {
    await begin(2);
    await begin(3);
    expect(await linesOf()).toContain('petstore_requests_total 5');
  });

  it('tells of memory what the largest of them has', async () => {
    await begin(1);
    await begin(1);
    const name = 'petstore_process_resident_memory_bytes ';
    const line = (await linesOf()).find((each) => each.startsWith(name));
    // Both are this process.
    expect(Number(line!.slice(name.length))).toBeLessThan(1.5 * process.memoryUsage.rss());
  });

  it('lets no counter fall when a worker ends, and forgets what was of that moment', async () => {
    await begin(2);
    await begin(3);
    const before = await linesOf();
    workers.shift();
    await begin(10);
    const after = await linesOf();
    expect(after).toContain('petstore_requests_total 15');
    workers.length = 0;
    const none = await linesOf();
    expect(none).toContain('petstore_requests_total 15');
    const isResident = (line: string): boolean =>
      line.startsWith('petstore_process_resident_memory_bytes ');
    expect([before, none].map((lines) => lines.some(isResident))).toEqual([true, false]);
  });

  it('takes what a worker told last where it does not answer in time', async () => {
    const { state } = await begin(2);
    await begin(3);
    await linesOf();
    state.isStuck = true;
    expect(await linesOf()).toContain('petstore_requests_total 5');
  });
});
