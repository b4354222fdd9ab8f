import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Client } from '../support/client.js';
import { describeWith, findEngine } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { Workplace } from '../support/petstore-process.js';

// Databases, two nodes and nginx, one after the other, on a machine that may be busy.
const START_TIMEOUT_MS = 150_000;
const ENOUGH = 200;
const CLIENTS = 12;
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

  // SIGKILL would leave its children behind.
  afterAll(async () => {
    if (cluster.exitCode !== null || !cluster.kill('SIGTERM')) return;
    await once(cluster, 'exit');
  }, 60_000);

  it('serves through nginx, whose words nobody hears', async () => {
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

  it('fails no request while one of the two nodes is stopped', async () => {
    using workplace = new Workplace({ DATABASE_URL: shown(/PostgreSQL +(postgres:\S+)/)! });
    const quota = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '10000000'];
    const { key } = await workplace.json('keys', 'issue', '--name', 'load', ...quota);
    const statuses: number[] = [];
    let isOver = false;
    const loads = Array.from({ length: CLIENTS }, async (_none, index) => {
      const client = new Client(origin, key);
      while (!isOver) {
        const read = index % 2 === 0;
        const { status } = await (read ? client.get('/v1/pets') : client.post('/v1/pets', rex));
        statuses.push(status);
        await new Promise((resume) => setTimeout(resume, 10));
      }
      client.close();
    });
    const more = (count: number) => {
      const until = statuses.length + count;
      return eventually(() => Promise.resolve(statuses.length >= until), START_TIMEOUT_MS);
    };
    try {
      await more(ENOUGH);
      process.kill(Number(shown(/node1 .*process (\d+)/)), 'SIGTERM');
      const hasEnded = () => Promise.resolve(output.includes('node1    | ended (exit 0)'));
      await eventually(hasEnded, START_TIMEOUT_MS);
      await more(ENOUGH);
    } finally {
      isOver = true;
      await Promise.allSettled(loads);
    }
    await Promise.all(loads);
    expect([...new Set(statuses)].sort()).toEqual([200, 201]);
  });

  it('stops everything and leaves nothing behind', async () => {
    const directory = shown(/Unix socket "(\S+?)\/postgres\//)!;
    expect(existsSync(directory)).toBe(true);
    const exited = once(cluster, 'exit');
    cluster.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(existsSync(directory)).toBe(false);
    await expect(fetch(origin)).rejects.toThrow();
  });
});
