import type { Answer, Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { metricValue } from '../support/metrics.js';
import { onPostgres, startService } from '../support/start-service.js';

const HELD_UP_MS = 300;

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
    const answer = await client.get(path);
    if (answer.status === 503) refused = answer;
    return refused !== undefined;
  });
  return refused!;
}

describe('under overload', () => {
  const env = async () => ({ SHED_AFTER_MS: '5', METRICS_PORT: String(await freePort()) });

  it('a share of the requests is answered 503, which take nothing of their quota', async () => {
    // No minute ends meanwhile, after which more would be left than was taken.
    await using service = await startService({ clock: new FakeClock(), env: await env() });
    const client = await service.client({ perMinute: 100_000, perDay: 1_000_000 });
    await heldUp(async () => {
      const { headers, json } = await shed(client);
      expect(json()).toEqual({
        code: 'service_unavailable',
        message: 'The service is overloaded',
        status: 503,
      });
      expect(['1', '2', '3']).toContain(headers['retry-after']);
      expect(headers['x-ratelimit-limit']).toBe('100000');
      const left = async () => Number((await shed(client)).headers['x-ratelimit-remaining']);
      const admitted = () =>
        metricValue(service, 'petstore_rate_limit_decisions_total', { decision: 'admitted' });
      expect(await left()).toBe(100_000 - (await admitted()));
      expect(await metricValue(service, 'petstore_shed_total')).toBeGreaterThan(1);
    });
  });

  it('an unknown path is refused like any other, and nobody is without a key', async () => {
    await using service = await startService({ env: await env() });
    await heldUp(async () => {
      const client = await service.client();
      expect((await shed(client, '/v1/nowhere')).headers).toHaveProperty('x-ratelimit-remaining');
      const anonymous = service.anonymous();
      for (let round = 0; round < 5; round++) {
        expect((await anonymous.get('/v1/pets')).status).toBe(401);
      }
      anonymous.close();
    });
  });

  it('health and metrics are answered, and everybody again once it is over', async () => {
    const { METRICS_PORT, ...rest } = await env();
    await using service = await startService({ env: { METRICS_PORT, ...rest } });
    const client = await service.client();
    await heldUp(async () => {
      await shed(client);
      for (let round = 0; round < 3; round++) {
        expect((await client.get('/health/ready')).status).toBe(200);
        expect((await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).status).toBe(200);
      }
    });
    await eventually(async () => {
      for (let round = 0; round < 10; round++) {
        if ((await client.get('/v1/pets')).status !== 200) return false;
      }
      return true;
    });
  });

  it('one pause of the process sheds nothing', async () => {
    await using service = await startService({ env: await env() });
    const client = await service.client();
    const waiting = Array.from({ length: 20 }, () => client.get('/v1/pets'));
    holdUp(2_500);
    const answers = await Promise.all(waiting);
    expect(await metricValue(service, 'petstore_shed_total')).toBe(0);
    // A connection to PostgreSQL that is still to be made is given up while the process pauses.
    const possible = onPostgres ? [200, 503] : [200];
    for (const { status } of answers) expect(possible).toContain(status);
  });

  it('nothing is shed where that is turned off', async () => {
    await using service = await startService({ env: { ...(await env()), SHED_AFTER_MS: '0' } });
    const client = await service.client();
    await heldUp(async () => {
      for (let round = 0; round < 12; round++) {
        expect((await client.get('/v1/pets')).status).toBe(200);
      }
    });
  });
});
