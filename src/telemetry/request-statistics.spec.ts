import { AggregatorRegistry, Registry } from 'prom-client';
import { RequestStatistics } from './request-statistics.js';

describe(RequestStatistics.name, () => {
  it('is exposed as a counter and a histogram of Prometheus', async () => {
    const registry = new Registry();
    const statistics = new RequestStatistics();
    statistics.registerIn(registry);
    statistics.count('listPets', 200, 0.0004);
    statistics.count('listPets', 200, 0.001);
    statistics.count('listPets', 429, 20);
    statistics.count('getPet', 404, 0.3);
    const lines = (await registry.metrics()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        '# TYPE petstore_http_requests_total counter',
        'petstore_http_requests_total{operation="listPets",status="200"} 2',
        'petstore_http_requests_total{operation="listPets",status="429"} 1',
        'petstore_http_requests_total{operation="getPet",status="404"} 1',
        '# TYPE petstore_http_request_duration_seconds histogram',
        'petstore_http_request_duration_seconds_bucket{le="0.0005",operation="listPets"} 1',
        'petstore_http_request_duration_seconds_bucket{le="0.001",operation="listPets"} 2',
        'petstore_http_request_duration_seconds_bucket{le="10",operation="listPets"} 2',
        'petstore_http_request_duration_seconds_bucket{le="+Inf",operation="listPets"} 3',
        'petstore_http_request_duration_seconds_sum{operation="listPets"} 20.0014',
        'petstore_http_request_duration_seconds_count{operation="listPets"} 3',
      ]),
    );
  });

  it('adds up over processes', async () => {
    const [one, two] = [new Registry(), new Registry()];
    for (const registry of [one, two]) {
      const statistics = new RequestStatistics();
      statistics.registerIn(registry);
      statistics.count('listPets', 200, 0.002);
    }
    const all = AggregatorRegistry.aggregate([
      await one.getMetricsAsJSON(),
      await two.getMetricsAsJSON(),
    ]);
    const text = await all.metrics();
    expect(text).toContain('petstore_http_requests_total{operation="listPets",status="200"} 2');
    expect(text).toMatch(/_bucket\{le="0.0025",operation="listPets"\} 2/);
  });
});
