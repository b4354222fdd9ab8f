import { Logger } from '@nestjs/common';
import { AggregatorRegistry } from 'prom-client';
import { PrometheusMetrics } from './prometheus.metrics.js';

const orders = { name: 'orders_total', help: 'Orders.', labels: ['status'] };
const waits = { name: 'wait_seconds', help: 'Waits.', labels: ['for'], buckets: [0.1, 1] };

async function linesOf(metrics: PrometheusMetrics): Promise<string[]> {
  return (await metrics.expose()).body.split('\n');
}

describe(PrometheusMetrics.name, () => {
  it('exposes counters, histograms and gauges under its prefix', async () => {
    const metrics = await PrometheusMetrics.create();
    metrics.counter(orders).of('open').add(2);
    const wait = metrics.histogram(waits).of('stock');
    for (const seconds of [0.1, 0.5, 7]) wait.observe(seconds);
    metrics.gauge({
      ...{ name: 'shelves', help: 'Shelves.', labels: ['state'] },
      read: () => [[{ state: 'free' }, 4]],
    });
    expect(await linesOf(metrics)).toEqual(
      expect.arrayContaining([
        '# TYPE petstore_orders_total counter',
        'petstore_orders_total{status="open"} 2',
        '# TYPE petstore_wait_seconds histogram',
        'petstore_wait_seconds_bucket{le="0.1",for="stock"} 1',
        'petstore_wait_seconds_bucket{le="1",for="stock"} 2',
        'petstore_wait_seconds_bucket{le="+Inf",for="stock"} 3',
        'petstore_wait_seconds_sum{for="stock"} 7.6',
        'petstore_wait_seconds_count{for="stock"} 3',
        '# TYPE petstore_shelves gauge',
        'petstore_shelves{state="free"} 4',
      ]),
    );
  });

  it('tells the others where one gauge cannot be read, and says so once in the log', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const metrics = await PrometheusMetrics.create();
    const error = new Error('no shelves');
    const read = jest.fn<[Record<string, string>, number][], []>(() => {
      throw error;
    });
    metrics.gauge({ name: 'shelves', help: 'Shelves.', read });
    metrics.gauge({ name: 'doors', help: 'Doors.', read: () => [[{}, 2]] });
    for (let round = 0; round < 2; round++) {
      const lines = await linesOf(metrics);
      expect(lines).toContain('petstore_doors 2');
      expect(lines).not.toContainEqual(expect.stringMatching(/^petstore_shelves/));
    }
    expect(logged.mock.calls).toEqual([[error]]);
    read.mockReturnValue([[{}, 4]]);
    expect(await linesOf(metrics)).toContain('petstore_shelves 4');
    logged.mockRestore();
  });

  it('gives whoever asks for the same metric the same one', async () => {
    const metrics = await PrometheusMetrics.create();
    expect(metrics.counter(orders)).toBe(metrics.counter(orders));
    expect(metrics.histogram(waits)).toBe(metrics.histogram(waits));
  });

  it('leaves out a gauge of which no reader could be told', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const metrics = await PrometheusMetrics.create();
    metrics.gauge({ name: 'doors', help: 'Doors.', read: () => [[{ 'in-use': 'yes' }, 2]] });
    metrics.gauge({ name: 'keys', help: 'Keys.', read: () => [[{}, undefined as never]] });
    const body = (await linesOf(metrics)).join('\n');
    expect(body).not.toMatch(/^petstore_(?:doors|keys)/m);
    expect(logged).toHaveBeenCalledTimes(2);
    logged.mockRestore();
  });

  it('says which release runs, where requests are counted, and how often that changed', async () => {
    const metrics = await PrometheusMetrics.create();
    for (const mode of ['redis', 'fallback', 'fallback', 'redis'] as const) {
      metrics.setQuotaStore(mode);
    }
    expect(await linesOf(metrics)).toEqual(
      expect.arrayContaining([
        `petstore_build_info{version="1.0.0",node="${process.versions.node}"} 1`,
        'petstore_quota_store{mode="redis"} 1',
        'petstore_quota_store{mode="fallback"} 0',
        'petstore_quota_store_switches_total{mode="redis"} 1',
        'petstore_quota_store_switches_total{mode="fallback"} 1',
      ]),
    );
  });

  it('adds up over processes, but for what each of them says of all', async () => {
    const both = await Promise.all([PrometheusMetrics.create(), PrometheusMetrics.create()]);
    for (const metrics of both) {
      metrics.counter(orders).of('open').add();
      metrics.histogram(waits).of('stock').observe(0.5);
      metrics.setQuotaStore('memory');
    }
    const snapshots = await Promise.all(both.map((metrics) => metrics.snapshot()));
    const text = await AggregatorRegistry.aggregate(snapshots).metrics();
    expect(text).toContain('petstore_orders_total{status="open"} 2');
    expect(text).toMatch(/petstore_wait_seconds_bucket\{le="1",for="stock"\} 2/);
    expect(text).toMatch(/petstore_build_info\{.*\} 1\n/);
    expect(text).toContain('petstore_quota_store{mode="memory"} 1');
  });
});
