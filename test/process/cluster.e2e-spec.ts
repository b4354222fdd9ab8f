import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client } from '../support/client.js';
import { describeWith, findEngine } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

// Databases, two nodes and nginx, one after the other, on a machine that may be busy.
const START_TIMEOUT_MS = 150_000;
const rex = { name: 'Rex', categoryId: 7 };

const missing = (['postgres', 'redis'] as const).find((engine) => findEngine(engine) === undefined);

describeWith(missing ?? 'nginx', 'npm run cluster', () => {
  it('serves through nginx, with responses of the service alone', async () => {
    const env = { ...process.env, LOG_LEVEL: 'warn' };
    const cluster = spawn(process.execPath, ['scripts/cluster.mjs'], { env });
    const ended = once(cluster, 'exit');
    let output = '';
    cluster.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    try {
      await eventually(() => Promise.resolve(output.includes('Ctrl-C.')), START_TIMEOUT_MS);
      const [, origin = ''] = /(http:\S+)\/v1 /.exec(output) ?? [];
      const client = new Client(origin, /Bearer (\w+)/.exec(output)?.[1]);
      const created = await client.post('/v1/pets', rex);
      expect(created.status).toBe(201);
      expect(created.headers['location']).toBe(`${origin}/v1/pets/${created.json().id}`);
      const listed = await client.get('/v1/pets');
      expect(listed.json()).toEqual([{ id: created.json().id, ...rex }]);
      const tooLarge = await client.post('/v1/pets', 'x'.repeat(100_000));
      expect(tooLarge.json().code).toBe('payload_too_large');
      expect(tooLarge.headers['x-ratelimit-limit']).toBe('60');
      client.close();
    } finally {
      // SIGKILL would leave its child processes running.
      cluster.kill('SIGTERM');
      await ended;
    }
  }, 240_000);
});
