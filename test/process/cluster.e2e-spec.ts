import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Client } from '../support/client.js';
import { describeWith, findEngine } from '../support/engines.js';
import { eventually } from '../support/eventually.js';

// Databases, two nodes and nginx, one after the other, on a machine that may be busy.
const START_TIMEOUT_MS = 150_000;
const rex = { name: 'Rex', categoryId: 7 };

const missing = (['postgres', 'redis'] as const).find((engine) => findEngine(engine) === undefined);

describeWith(missing ?? 'nginx', 'npm run cluster', () => {
  let cluster: ChildProcess;
  let output = '';
  let origin: string;
  let key: string;

  const shown = (pattern: RegExp) => pattern.exec(output)?.[1];

  beforeAll(async () => {
    cluster = spawn(process.execPath, ['scripts/cluster.mjs'], {
      env: { ...process.env, LOG_LEVEL: 'warn' },
    });
    for (const stream of [cluster.stdout!, cluster.stderr!]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    }
    await eventually(() => {
      if (cluster.exitCode !== null) throw new Error(output);
      return Promise.resolve(output.includes('Ctrl-C.'));
    }, START_TIMEOUT_MS);
    origin = new URL(shown(/(http:\S+)\/v1 /)!).origin;
    key = shown(/Bearer (\w+)/)!;
  }, START_TIMEOUT_MS + 5_000);

  // SIGKILL would leave its child processes running.
  afterAll(async () => {
    if (cluster.exitCode !== null || !cluster.kill('SIGTERM')) return;
    await once(cluster, 'exit');
  }, 60_000);

  it('serves through nginx, with responses of the service alone', async () => {
    const client = new Client(origin, key);
    const created = await client.post('/v1/pets', rex);
    expect(created.status).toBe(201);
    expect(created.headers['location']).toBe(`${origin}/v1/pets/${created.json().id}`);
    const listed = await client.get('/v1/pets');
    expect(listed.json()).toEqual([{ id: created.json().id, ...rex }]);
    const tooLarge = await client.post('/v1/pets', 'x'.repeat(100_000));
    expect(tooLarge.json().code).toBe('payload_too_large');
    expect(tooLarge.headers['x-ratelimit-limit']).toBe('60');
    client.close();
  });
});
