import { usedToday } from '../support/counters.js';
import type { Answer, Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { metricValue } from '../support/metrics.js';
import { startService } from '../support/start-service.js';

/** Twice the threshold of these tests, which a busy machine alone does not exceed all the time. */
const HELD_UP_MS = 200;
const LATE_MS = 100;

/** Blocks the event loop, which the service shares with this test. */
function holdUp(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

/** Blocks the event loop most of the time during the work. */
async function heldUp(work: () => Promise<void>): Promise<void> {
  const timer = setInterval(() => holdUp(HELD_UP_MS), 1);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}

async function shed(client: Client, path = '/v1/pets'): Promise<Answer> {
  let rejected: Answer | undefined;
  await eventually(async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => client.get(path)));
    rejected = answers.find(({ status }) => status === 503);
    return rejected !== undefined;
  }, 60_000);
  return rejected!;
}

describe('under overload', () => {
  it('answers requests 503, but health and metrics as usual, and all requests when it is over', async () => {
    const METRICS_PORT = String(await freePort());
    // The clock stands still, so that no window ends during the test.
    await using service = await startService({
      clock: new FakeClock(),
      env: { METRICS_PORT, SHED_AFTER_MS: String(LATE_MS) },
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
      expect(await usedToday(service, client.keyId!)).toBe(await admitted());
      expect(await metricValue(service, 'petstore_shed_total')).toBeGreaterThan(0);
      // An unknown path is answered like any other; without a key, the 401 comes first.
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
});
