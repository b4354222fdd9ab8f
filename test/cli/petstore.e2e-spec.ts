import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { Workplace } from '../support/petstore-process.js';

const ENTERPRISE = ['--plan', 'enterprise', '--per-minute', '100000', '--per-day', '1000000'];

// Each starts a dozen processes, which takes its time on a busy machine.
jest.setTimeout(180_000);
/** Of a start with workers, one after the other, on a busy machine. */
const START_MS = 60_000;

describe('petstore', () => {
  let workplace: Workplace;
  beforeEach(() => {
    workplace = new Workplace();
  });
  afterEach(() => workplace.remove());

  it('hands a key and a curl line that works to whoever starts it first, and to nobody after', async () => {
    const first = await workplace.serve();
    await eventually(() => Promise.resolve(first.output().includes('curl')), START_MS);
    const [, command = ''] = /^ *(curl .*)$/m.exec(first.output()) ?? [];
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(stdout).toMatch(/^HTTP\/1.1 200 /);
    expect(first.output()).toContain(`${first.origin.replace('127.0.0.1', 'localhost')}/docs`);
    expect(await first.stop()).toBe(0);

    const second = await workplace.serve();
    expect(second.output()).not.toContain('psk_');
    expect(await second.stop('SIGINT')).toBe(0);
  });

  it.each<[string[]]>([[[]], [['--workers', '2']]])(
    'offers animals to whoever starts it first: %j',
    async (args) => {
      const server = await workplace.serve({}, ...args);
      await eventually(() => Promise.resolve(server.output().includes('curl')), START_MS);
      const [, key = ''] = /^ +(psk_\w+)$/m.exec(server.output()) ?? [];
      const page = await new Client(server.origin, key).get('/v1/pets');
      expect(page.json()).toHaveLength(20);
      const next = await new Client(server.origin, key).get(nextOf(String(page.headers['link'])));
      expect(next.json()).toHaveLength(10);
      expect(next.headers['link']).toBeUndefined();
      expect(await server.stop()).toBe(0);
    },
  );

  it.each([
    ['that is told not to', {}, ['--no-demo']],
    ['that is told not to, with workers', {}, ['--no-demo', '--workers', '2']],
    ['of production', { NODE_ENV: 'production' }, []],
  ])('offers no animals at a first start %s', async (_start, env, args) => {
    const server = await workplace.serve(env, ...args);
    const { key } = await workplace.json('keys', 'issue', '--name', 'k', '--plan', 'free');
    expect((await new Client(server.origin, key).get('/v1/pets')).text).toBe('[]');
    expect(await server.stop()).toBe(0);
  });

  it('offers no animals where there are some, or a key', async () => {
    await workplace.json('seed', '--pets', '1');
    const first = await workplace.serve();
    await eventually(() => Promise.resolve(first.output().includes('curl')), START_MS);
    const [, key = ''] = /^ +(psk_\w+)$/m.exec(first.output()) ?? [];
    expect((await new Client(first.origin, key).get('/v1/pets')).json()).toHaveLength(1);
    expect(await first.stop()).toBe(0);

    using other = new Workplace();
    await other.run('migrate');
    const issued = await other.json('keys', 'issue', '--name', 'k', '--plan', 'free');
    const second = await other.serve();
    expect((await new Client(second.origin, issued.key).get('/v1/pets')).text).toBe('[]');
    expect(await second.stop()).toBe(0);
  });

  it('keeps the first key for a start that succeeds', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    for (const args of [[], ['--workers', '2']]) {
      const child = workplace.start(['serve', ...args], { PORT: String(port), METRICS_PORT: '0' });
      expect(await once(child, 'close')).toEqual([1, null]);
    }
    other.close();
    expect(await workplace.json('keys', 'list')).toEqual([]);
    const server = await workplace.serve();
    await eventually(() => Promise.resolve(server.output().includes('psk_')));
    expect(await server.stop()).toBe(0);
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

  it('issues no key by itself in production', async () => {
    const server = await workplace.serve({ NODE_ENV: 'production' });
    expect(server.output()).not.toContain('psk_');
    await server.stop();
    expect(await workplace.json('keys', 'list')).toEqual([]);
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

    const rotated = await workplace.json('keys', 'rotate', id, '--grace', '0s');
    await eventually(async () => (await client.get('/v1/pets')).status === 401);
    const fresh = new Client(server.origin, rotated.key);
    expect((await fresh.get('/v1/pets')).status).toBe(200);

    await workplace.json('keys', 'revoke', rotated.id);
    await eventually(async () => (await fresh.get('/v1/pets')).status === 401);

    expect(await server.stop()).toBe(0);
    const usage = await workplace.json('keys', 'usage', id);
    expect(usage).toMatchObject({ id, day: { limit: 100_000 }, bannedUntil: null });
    expect(usage.day.used).toBeGreaterThanOrEqual(3);

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

  it('loses no acknowledged animal by kill -9, and at most a second of the quota', async () => {
    await workplace.run('migrate');
    const { key } = await workplace.json('keys', 'issue', '--name', 'k', ...ENTERPRISE);
    const acknowledged: string[] = [];
    let used = 0;
    for (let round = 0; round < 3; round++) {
      const server = await workplace.serve({ LOG_LEVEL: 'warn' });
      const client = new Client(server.origin, key);
      let running = true;
      const write = async (): Promise<void> => {
        while (running) {
          const answer = await client.post('/v1/pets', { name: 'Rex', categoryId: 1 });
          if (answer.status === 201) acknowledged.push(answer.text);
        }
      };
      const writers = Array.from({ length: 8 }, () => write().catch(() => undefined));
      await new Promise((resume) => setTimeout(resume, 700));
      if (round === 2) {
        // One second of quiet: then all of it has to be on disk.
        running = false;
        await Promise.all(writers);
        await new Promise((resume) => setTimeout(resume, 1_000));
        const { headers } = await client.get('/v1/pets');
        used = 100_000 - Number(headers['x-ratelimit-remaining']) - 1;
      }
      await server.stop('SIGKILL');
      running = false;
      await Promise.all(writers);
      client.close();
    }
    const server = await workplace.serve();
    const client = new Client(server.origin, key);
    expect(acknowledged.length).toBeGreaterThan(100);
    for (const text of acknowledged.slice(-500)) {
      expect((await client.get(`/v1/pets/${JSON.parse(text).id}`)).text).toBe(text);
    }
    const [first] = [await workplace.json('keys', 'list')];
    const usage = await workplace.json('keys', 'usage', first[0].id);
    expect(usage.day.used).toBeGreaterThanOrEqual(used);
    await server.stop();
  });

  it('seeds many animals', async () => {
    expect(await workplace.json('seed', '--pets', '12345')).toMatchObject({ pets: 12_345 });
    const server = await workplace.serve();
    const { key } = await workplace.json('keys', 'issue', '--name', 'k', ...ENTERPRISE);
    const answer = await new Client(server.origin, key).get('/v1/pets/12345');
    expect(answer.text).toBe(
      '{"id":12345,"name":"Oscar 12345","categoryId":5,"status":"available"}',
    );
    await server.stop();
  });

  it('migrates twice at once', async () => {
    const [one, two] = await Promise.all([workplace.run('migrate'), workplace.run('migrate')]);
    expect([one.code, two.code]).toEqual([0, 0]);
    expect(await workplace.json('migrate')).toEqual({ migrations: [] });
  });

  it('prints the document as JSON and as YAML, and leaves no database behind', async () => {
    const json = await workplace.run('openapi');
    expect(JSON.parse(json.stdout)).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
    const yaml = await workplace.run('openapi', '--format', 'yaml');
    expect(yaml.stdout).toMatch(/^openapi: 3\.1\.0$/m);
    expect(readdirSync(workplace.directory)).toEqual([]);
  });

  it('names every fault of its configuration, and exits 1', async () => {
    const wrong = new Workplace({
      PORT: 'x',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://u:secret@h',
    });
    const { code, stdout, stderr } = await wrong.run('serve');
    wrong.remove();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/DATABASE_URL must be[^]*LOG_LEVEL must be|PORT must be[^]*/);
    for (const name of ['PORT', 'LOG_LEVEL', 'DATABASE_URL']) expect(stderr).toContain(name);
    expect(stderr).not.toContain('secret');
  });

  it('says which setting to change where its port is taken, and exits 1', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resume) => other.once('listening', resume));
    const port = String((other.address() as { port: number }).port);
    const taken = new Workplace({ PORT: port, METRICS_PORT: '0', LOG_LEVEL: 'silent' });
    const { code, stderr } = await taken.run('serve');
    taken.remove();
    other.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .*EADDRINUSE.*set PORT.*\n$/);
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

/** Where `Link` leads, on the server that sent it. */
function nextOf(link: string): string {
  const { pathname, search } = new URL(/<([^>]*)>; rel="next"/.exec(link)![1]!);
  return pathname + search;
}
