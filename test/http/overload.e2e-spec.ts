import { OverloadMonitor } from '../../src/rate-limits/overload.guard.js';
import { RateLimitStore } from '../../src/rate-limits/stores/rate-limit-store.js';
import type { Answer, Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { metricValue } from '../support/metrics.js';
import { onPostgres, startService } from '../support/start-service.js';

/** Twice what is late in these tests: a busy machine alone is not so late, all the time. */
const HELD_UP_MS = 200;
const LATE_MS = 100;

/** Holds up the event loop, which the service shares with this test. */
function holdUp(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

/** Leaves the event loop hardly any time meanwhile. */
async function heldUp(work: () => Promise<void>): Promise<void> {
  const timer = setInterval(() => holdUp(HELD_UP_MS), 1);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}

async function shed(client: Client, path = '/v1/pets'): Promise<Answer> {
  let refused: Answer | undefined;
  await eventually(async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => client.get(path)));
    refused = answers.find(({ status }) => status === 503);
    return refused !== undefined;
  }, 60_000);
  return refused!;
}

describe('under overload', () => {
  const env = async () => ({
    SHED_AFTER_MS: String(LATE_MS),
    METRICS_PORT: String(await freePort()),
  });

  it('requests are answered 503, health and metrics are answered, and everybody once it is over', async () => {
    const { METRICS_PORT, ...rest } = await env();
    // No minute ends meanwhile, after which more would be left than was taken.
    await using service = await startService({
      clock: new FakeClock(),
      env: { METRICS_PORT, ...rest },
    });
    const client = await service.client({ perMinute: 100_000, perDay: 1_000_000 });
    const anonymous = service.anonymous();
    const statuses = async (count: number, ask: () => Promise<{ status: number }>) => {
      const answers = await Promise.all(Array.from({ length: count }, ask));
      return new Set(answers.map(({ status }) => status));
    };
    await heldUp(async () => {
      const { headers, json } = await shed(client);
      expect(json()).toEqual({
        code: 'service_unavailable',
        message: 'The service is overloaded',
        status: 503,
      });
      expect(['1', '2', '3']).toContain(headers['retry-after']);
      expect(headers['x-ratelimit-limit']).toBe('100000');
      const admitted = () =>
        metricValue(service, 'petstore_rate_limit_decisions_total', { decision: 'admitted' });
      const { dayUsed } = await service.store.app.get(RateLimitStore).peek(client.keyId!);
      expect(dayUsed).toBe(await admitted());
      expect(await metricValue(service, 'petstore_shed_total')).toBeGreaterThan(0);
      // An unknown path is refused like any other, and nobody is without a key.
      expect((await shed(client, '/v1/nowhere')).headers).toHaveProperty('x-ratelimit-remaining');
      const scrape = () => fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`);
      expect(await statuses(5, () => anonymous.get('/v1/pets'))).toEqual(new Set([401]));
      expect(await statuses(5, () => client.get('/health/ready'))).toEqual(new Set([200]));
      expect(await statuses(5, scrape)).toEqual(new Set([200]));
    });
    await eventually(async () => {
      for (let round = 0; round < 10; round++) {
        if ((await client.get('/v1/pets')).status !== 200) return false;
      }
      return true;
    }, 60_000);
  });

  it('one pause of the process sheds nothing', async () => {
    // Far less than the pause, and more than a busy machine is late for a second on end.
    const patient = { ...(await env()), SHED_AFTER_MS: '1000' };
    await using service = await startService({ env: patient });
    const client = await service.client();
    const waiting = Array.from({ length: 20 }, () => client.get('/v1/pets'));
    holdUp(2_500);
    const answers = await Promise.all(waiting);
    expect(await metricValue(service, 'petstore_shed_total')).toBe(0);
    // Whoever comes next is not refused either: the sample that was taken behind the pause began nothing.
    expect(service.store.app.get(OverloadMonitor).isOverloaded).toBe(false);
    // A connection to PostgreSQL that is still to be made is given up while the process pauses.
    const possible = onPostgres ? [200, 503] : [200];
    for (const { status } of answers) expect(possible).toContain(status);
  });

  it('nothing is shed where that is turned off', async () => {
    await using service = await startService({ env: { ...(await env()), SHED_AFTER_MS: '0' } });
    const client = await service.client();
    await heldUp(async () => {
      const statuses = new Set<number>();
      // Twice as long as it would take to begin.
      const until = performance.now() + 2_000;
      while (performance.now() < until) {
        const answers = await Promise.all([1, 2, 3, 4].map(() => client.get('/v1/pets')));
        for (const { status } of answers) statuses.add(status);
      }
      expect(statuses).toEqual(new Set([200]));
    });
  });
});
