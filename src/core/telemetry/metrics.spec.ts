import { Metrics } from './metrics.js';

const orders = { name: 'orders_total', help: 'Orders.', labelNames: ['status'] as const };

describe(Metrics.name, () => {
  let metrics: Metrics;
  const lines = async () => (await metrics.registry.metrics()).split('\n');
  beforeEach(() => (metrics = new Metrics()));

  it('exposes counters, histograms and gauges under its prefix', async () => {
    metrics.counter(orders).inc({ status: 'open' }, 2);
    const options = { name: 'wait_seconds', help: 'Waits.', buckets: [0.1, 1] };
    const waits = metrics.histogram({ ...options, labelNames: ['for'] });
    for (const seconds of [0.1, 0.5, 7]) waits.observe({ for: 'stock' }, seconds);
    metrics.gauge({
      ...{ name: 'shelves', help: 'Shelves.' },
      collect() {
        this.set(4);
      },
    });
    expect(await lines()).toEqual(
      expect.arrayContaining([
        '# TYPE petstore_orders_total counter',
        'petstore_orders_total{status="open"} 2',
        '# TYPE petstore_wait_seconds histogram',
        'petstore_wait_seconds_bucket{le="0.1",for="stock"} 1',
        'petstore_wait_seconds_bucket{le="+Inf",for="stock"} 3',
        'petstore_wait_seconds_count{for="stock"} 3',
        'petstore_shelves 4',
      ]),
    );
  });

  it('rejects a name that is taken and a label that Prometheus does not accept', () => {
    metrics.counter(orders);
    expect(() => metrics.gauge(orders)).toThrow('petstore_orders_total');
    const labelNames = ['in-use'];
    expect(() => metrics.counter({ name: 'doors_total', help: 'Doors.', labelNames })).toThrow();
  });

  it('exposes the release', async () => {
    expect(await lines()).toContain(
      `petstore_build_info{version="1.0.0",node="${process.versions.node}"} 1`,
    );
  });
});
