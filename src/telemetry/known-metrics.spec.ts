import { KnownMetrics } from './known-metrics.js';
import { type Metrics, NoMetrics } from './metrics.js';
import { PrometheusMetrics } from './prometheus.metrics.js';

const bans = { name: 'bans_total', help: 'Bans.' };
const waits = { name: 'wait_seconds', help: 'Waits.', labels: ['for'] };
const shelves = { name: 'shelves', help: 'Shelves.', read: () => [] };

const KINDS: [string, () => Promise<Metrics>][] = [
  [PrometheusMetrics.name, () => PrometheusMetrics.create()],
  [NoMetrics.name, () => Promise.resolve(new NoMetrics())],
];

describe.each(KINDS)(`${KnownMetrics.name} of %s`, (_name, create) => {
  let metrics: Metrics;
  beforeEach(async () => (metrics = await create()));

  it('are shared by whoever asks for the same, whatever help they would give', () => {
    expect(metrics.counter({ ...bans, help: 'Others.' })).toBe(metrics.counter(bans));
    expect(metrics.histogram({ ...waits, buckets: [1] })).toBe(metrics.histogram(waits));
  });

  it('are of one kind and one list of labels, and a gauge of one reader', () => {
    metrics.counter(bans);
    metrics.histogram(waits);
    metrics.gauge(shelves);
    expect(() => metrics.counter({ ...bans, labels: ['zoo'] })).toThrow(
      'The metric bans_total cannot be a counter with the labels [zoo]: ' +
        'there is a counter with the labels [] of that name',
    );
    expect(() => metrics.histogram({ ...waits, labels: ['whom'] })).toThrow('wait_seconds');
    expect(() => metrics.histogram(bans)).toThrow('bans_total');
    expect(() => metrics.gauge({ ...shelves, name: 'bans_total' })).toThrow('bans_total');
    expect(() => metrics.counter({ ...bans, name: 'shelves' })).toThrow('shelves');
    expect(() => metrics.gauge(shelves)).toThrow('shelves');
  });

  it.each(['a b', 'a-b', '1st', 'zoo:bans', ''])('are not called %j', (name) => {
    for (const ask of [
      () => metrics.counter({ ...bans, name }),
      () => metrics.histogram({ ...waits, name }),
      () => metrics.gauge({ ...shelves, name }),
    ]) {
      expect(ask).toThrow(`Prometheus takes no metric of the name ${JSON.stringify(name)}`);
    }
  });

  it.each(['le-x', '__zoo', 'a b', '1st', ''])('have no label %j', (label) => {
    const labels = ['zoo', label];
    for (const ask of [
      () => metrics.counter({ ...bans, labels }),
      () => metrics.histogram({ ...waits, labels }),
      () => metrics.gauge({ ...shelves, labels }),
    ]) {
      expect(ask).toThrow(/^The metric \w+ cannot have the label "/);
    }
  });

  it('have no label twice, nor that of the bounds of a histogram', () => {
    expect(() => metrics.counter({ ...bans, labels: ['zoo', 'zoo'] })).toThrow('bans_total');
    expect(() => metrics.histogram({ ...waits, labels: ['le'] })).toThrow('wait_seconds');
    metrics.counter({ ...bans, labels: ['le'] });
  });
});
