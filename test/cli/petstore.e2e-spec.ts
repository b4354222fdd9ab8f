import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { type Served, Workplace } from '../support/petstore-process.js';

// Each starts a dozen processes, which takes its time on a busy machine.
jest.setTimeout(180_000);
/** A start on a busy machine. */
const START_MS = 60_000;

describe('petstore', () => {
  let workplace: Workplace;
  beforeEach(() => {
    workplace = new Workplace();
  });
  afterEach(() => workplace.remove());

  const introduced = (server: Served) =>
    eventually(() => Promise.resolve(server.output().includes('curl')), START_MS);
  const keyIn = (server: Served) => /^ +(psk_\w+)$/m.exec(server.output())?.[1] ?? '';

  it('hands a key, a curl line that works and animals to whoever starts it first, and to nobody after', async () => {
    const first = await workplace.serve();
    await introduced(first);
    const [, command = ''] = /^ *(curl .*)$/m.exec(first.output()) ?? [];
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(stdout).toMatch(/^HTTP\/1.1 200 /);
    expect(first.output()).toContain(`${first.origin.replace('127.0.0.1', 'localhost')}/docs`);
    const client = new Client(first.origin, keyIn(first));
    const page = await client.get('/v1/pets');
    expect(page.json()).toHaveLength(20);
    const next = await client.get(nextOf(String(page.headers['link'])));
    expect(next.json()).toHaveLength(10);
    expect(next.headers['link']).toBeUndefined();
    expect(await first.stop()).toBe(0);

    const second = await workplace.serve();
    expect(second.output()).not.toContain('psk_');
    expect(await second.stop('SIGINT')).toBe(0);
  });

  it('offers no animals at a first start that is told not to', async () => {
    const server = await workplace.serve({}, '--no-demo');
    await introduced(server);
    expect((await new Client(server.origin, keyIn(server)).get('/v1/pets')).text).toBe('[]');
    expect(await server.stop()).toBe(0);
  });

  it('offers neither animals nor a key in production', async () => {
    const server = await workplace.serve({ NODE_ENV: 'production' });
    expect(server.output()).not.toContain('psk_');
    expect(await workplace.json('keys', 'list')).toEqual([]);
    const { key } = await workplace.json('keys', 'issue', '--name', 'k', '--plan', 'free');
    expect((await new Client(server.origin, key).get('/v1/pets')).text).toBe('[]');
    expect(await server.stop()).toBe(0);
  });

  it('offers no animals where there are some: any number is soon seeded', async () => {
    expect(await workplace.json('seed', '--pets', '12345')).toMatchObject({ pets: 12_345 });
    const server = await workplace.serve();
    await introduced(server);
    const client = new Client(server.origin, keyIn(server));
    expect((await client.get('/v1/pets/12345')).text).toBe(
      '{"id":12345,"name":"Oscar 12345","categoryId":5,"status":"available"}',
    );
    expect((await client.get('/v1/pets/12346')).status).toBe(404);
    expect(await server.stop()).toBe(0);
  });

  it('says once which setting to change where its port is taken, and keeps the first key', async () => {
    await using taken = await listening();
    const env = { PORT: String(taken.port), METRICS_PORT: '0' };
    const child = workplace.start(['serve'], env);
    let stderr = '';
    child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(stderr).toMatch(/^error: .*EADDRINUSE.*set PORT.*\n$/);
    expect(stderr.match(/EADDRINUSE/g)).toHaveLength(1);
    expect(await workplace.json('keys', 'list')).toEqual([]);
  });

  it('prints where it listens as one JSON value, with its log elsewhere', async () => {
    const port = await freePort();
    const child = workplace.start(['serve', '--json'], { PORT: String(port), METRICS_PORT: '0' });
    const out: string[] = [];
    child.stdout!.on('data', (chunk: Buffer) => out.push(chunk.toString()));
    await eventually(() => Promise.resolve(out.join('').trimEnd().endsWith('}')));
    child.kill('SIGTERM');
    await once(child, 'close');
    expect(JSON.parse(out.join(''))).toEqual({
      origin: `http://127.0.0.1:${port}`,
      baseUrl: `http://localhost:${port}/v1`,
      docsUrl: `http://localhost:${port}/docs`,
      metricsUrl: null,
      database: 'data/petstore.db',
      key: expect.stringMatching(/^psk_/),
    });
  });

  it('manages keys while the server runs, in force within a second', async () => {
    const server = await workplace.serve({ LOG_FORMAT: 'json', BAN_AFTER_REJECTIONS: '60' });
    const issued = await workplace.json('keys', 'issue', '--name', 'Zoo', '--plan', 'pro');
    expect(issued).toEqual({
      id: expect.stringMatching(/^key_[0-9A-Za-z]{17}$/),
      key: expect.stringMatching(/^psk_[0-9A-Za-z]{49}$/),
      name: 'Zoo',
      plan: 'pro',
      scopes: ['pets:read', 'pets:write'],
      perMinute: 300,
      perDay: 10_000,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      expiresAt: null,
    });
    const { id, key } = issued;
    const client = new Client(server.origin, key);
    expect((await client.get('/v1/pets')).status).toBe(200);

    const plan = ['--plan', 'enterprise', '--per-minute', '1', '--per-day', '9'];
    await workplace.json('keys', 'set-plan', id, ...plan);
    await eventually(async () => (await client.get('/v1/pets')).status === 429);
    for (let refusal = 0; refusal < 61; refusal++) await client.get('/v1/pets');
    await eventually(async () => (await client.get('/v1/pets')).text.includes('key_banned'));
    const shown = await workplace.json('keys', 'show', id);
    expect(shown).toMatchObject({ id, plan: 'enterprise', perMinute: 1, last4: key.slice(-4) });
    expect(Date.parse(shown.bannedUntil)).toBeGreaterThan(Date.now());

    await workplace.json('keys', 'unban', id);
    await eventually(async () => !(await client.get('/v1/pets')).text.includes('key_banned'));
    await workplace.json('keys', 'set-plan', id, '--plan', 'business');
    await eventually(async () => (await client.get('/v1/pets')).status === 200);

    const rotated = await workplace.json('keys', 'rotate', id, '--grace', '2s');
    const { expiresAt } = await workplace.json('keys', 'show', id);
    await eventually(async () => (await client.get('/v1/pets')).status === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
    const fresh = new Client(server.origin, rotated.key);
    expect((await fresh.get('/v1/pets')).status).toBe(200);

    await workplace.json('keys', 'revoke', rotated.id);
    await eventually(async () => (await fresh.get('/v1/pets')).status === 401);

    expect(await server.stop()).toBe(0);
    const [usage, { lastUsedAt }] = await Promise.all([
      workplace.json('keys', 'usage', id),
      workplace.json('keys', 'show', id),
    ]);
    expect(usage).toMatchObject({ id, day: { limit: 100_000 }, bannedUntil: null });
    expect(Date.parse(lastUsedAt)).toBeLessThan(Date.parse(expiresAt));

    // Neither the log nor the database ever holds a key.
    const secrets = [key, rotated.key];
    const data = join(workplace.directory, 'data');
    const files = readdirSync(data).map((name) => readFileSync(join(data, name), 'latin1'));
    for (const text of [server.output(), ...files]) {
      for (const secret of secrets) expect(text.includes(secret)).toBe(false);
    }
    const lines = server
      .output()
      .split('\n')
      .filter((line) => line.includes('"operation":"listPets"'));
    expect(JSON.parse(lines[0]!)).toMatchObject({
      requestId: expect.any(String),
      keyId: id,
      status: 200,
      durationMs: expect.any(Number),
    });
  });

  it('prints the document as JSON and as YAML, and leaves no database behind', async () => {
    const [json, yaml] = await Promise.all([
      workplace.run('openapi'),
      workplace.run('openapi', '--format', 'yaml'),
    ]);
    expect(JSON.parse(json.stdout)).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
    expect(yaml.stdout).toMatch(/^openapi: 3\.1\.0$/m);
    expect(readdirSync(workplace.directory)).toEqual([]);
  });

  it('names every fault of its configuration, and exits 1', async () => {
    using wrong = new Workplace({
      PORT: 'x',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://u:secret@h',
    });
    const { code, stdout, stderr } = await wrong.run('serve');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/DATABASE_URL must be[^]*LOG_LEVEL must be|PORT must be[^]*/);
    for (const name of ['PORT', 'LOG_LEVEL', 'DATABASE_URL']) expect(stderr).toContain(name);
    expect(stderr).not.toContain('secret');
  });

  it('takes it well when who reads has had enough, as head does', async () => {
    const child = workplace.start(['openapi']);
    child.stdout!.destroy();
    let stderr = '';
    child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

/** A port that somebody else has. */
async function listening(): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.close();
    await once(server, 'close');
  };
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: close };
}

/** Where `Link` leads, on the server that sent it. */
function nextOf(link: string): string {
  const { pathname, search } = new URL(/<([^>]*)>; rel="next"/.exec(link)![1]!);
  return pathname + search;
}
