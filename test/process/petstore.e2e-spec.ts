import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { FakeServer } from '../support/fake-server.js';
import { freePort } from '../support/free-port.js';
import { type Served, Workplace } from '../support/petstore-process.js';
import { jsonInProcess } from '../support/run-program.js';

const HAS_SUCCEEDED = [({ ok }: Response) => ok, () => false] as const;

describe('petstore', () => {
  let workplace: Workplace;
  beforeEach(() => {
    workplace = new Workplace();
  });
  afterEach(() => workplace.remove());

  const run = (...argv: string[]) => jsonInProcess(`sqlite:${workplace.databaseFile}`, ...argv);
  const isIntroduced = (server: Served) =>
    eventually(() => Promise.resolve(server.output().includes('curl')));
  const keyIn = (server: Served) => /^ +(psk_\w+)$/m.exec(server.output())?.[1] ?? '';

  it('prints a key, a working curl line and the documentation at the first start only', async () => {
    const first = await workplace.serve();
    await isIntroduced(first);
    const [, command = ''] = /^ *(curl .*)$/m.exec(first.output()) ?? [];
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(stdout).toMatch(/^HTTP\/1.1 200 /);
    expect(first.output()).toContain(`${first.origin.replace('127.0.0.1', 'localhost')}/docs`);
    expect(first.output()).toMatch(/petstore\.db \(with 30 sample pets\)\n.*petstore keys issue/);
    const client = new Client(first.origin, keyIn(first));
    const page = await client.get('/v1/pets');
    expect(page.json()).toHaveLength(20);
    const { pathname, search } = new URL(/<([^>]*)>/.exec(String(page.headers['link']))![1]!);
    expect((await client.get(pathname + search)).json()).toHaveLength(10);
    expect(await first.stop()).toBe(0);

    const second = await workplace.serve();
    expect(second.output()).toContain('More keys');
    expect(second.output()).not.toMatch(/psk_|sample/);
    expect(await second.stop('SIGINT')).toBe(0);
  });

  it('adds neither pets nor a key in production', async () => {
    const server = await workplace.serve({ NODE_ENV: 'production' });
    expect(server.output()).not.toContain('psk_');
    expect(await run('keys', 'list')).toEqual([]);
    const { key } = await run('keys', 'issue', '--name', 'k', '--plan', 'free');
    expect((await new Client(server.origin, key).get('/v1/pets')).text).toBe('[]');
    expect(await server.stop()).toBe(0);
  });

  it('a start on a taken port reports the setting to change, and issues no first key', async () => {
    await using other = await FakeServer.start();
    const PORT = String(other.port);
    const child = workplace.start(['serve'], { PORT, METRICS_PORT: '0' });
    let [stdout, stderr] = ['', ''];
    child.stdout!.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(stdout).not.toContain('EADDRINUSE');
    expect(stderr).toMatch(/^error: .*EADDRINUSE.*: choose a free one with PORT\n$/);
    expect(await run('keys', 'list')).toEqual([]);
  });

  it('serve --json prints its addresses as one JSON value, and drains on SIGHUP', async () => {
    const port = await freePort();
    const child = workplace.start(['serve', '--json'], { PORT: String(port), METRICS_PORT: '0' });
    let out = '';
    child.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()));
    await eventually(() => Promise.resolve(out.endsWith('}\n')));
    child.kill('SIGHUP');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(JSON.parse(out)).toEqual({
      origin: `http://127.0.0.1:${port}`,
      baseUrl: `http://localhost:${port}/v1`,
      docsUrl: `http://localhost:${port}/docs`,
      metricsUrl: null,
      database: './data/petstore.db',
      key: expect.stringMatching(/^psk_/),
    });
  });

  it('npx petstore serve ends with npx on SIGTERM', async () => {
    const port = String(await freePort());
    const { PATH = '' } = process.env;
    const programs = join(workplace.directory, 'node_modules', '.bin');
    mkdirSync(programs, { recursive: true });
    // As npm does when it installs a package.
    chmodSync('dist/src/main.js', 0o755);
    symlinkSync(resolve('dist/src/main.js'), join(programs, 'petstore'));
    const npx = spawn('npx', ['--no', 'petstore', 'serve'], {
      cwd: workplace.directory,
      env: { PATH, PORT: port, METRICS_PORT: '0', npm_config_update_notifier: 'false' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const isLive = () => fetch(`http://127.0.0.1:${port}/health/live`).then(...HAS_SUCCEEDED);
    await eventually(isLive);
    npx.kill('SIGTERM');
    // The server holds the pipe until it ends.
    npx.stdout.resume();
    await once(npx, 'close');
    expect(await isLive()).toBe(false);
  });

  it('npm start ends with npm on SIGTERM', async () => {
    const port = String(await freePort());
    const { PATH = '' } = process.env;
    const DATABASE_URL = `sqlite:${workplace.directory}/petstore.db`;
    const npm = spawn('npm', ['start'], {
      env: { PATH, DATABASE_URL, PORT: port, METRICS_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    npm.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const isLive = () => fetch(`http://127.0.0.1:${port}/health/live`).then(...HAS_SUCCEEDED);
    await eventually(isLive);
    npm.kill('SIGTERM');
    // The server holds the pipe until it ends.
    await once(npm, 'close');
    expect(await isLive()).toBe(false);
    expect(output).toMatch(/Draining[^]*Stopped/);
  });

  it('gives a script the secret alone', async () => {
    await workplace.run('migrate');
    const issued = await workplace.run('keys', 'issue', '--name', 'Zoo', '--plan', 'pro');
    expect(issued).toMatchObject({ code: 0, stdout: expect.stringMatching(/^psk_\w{49}\n$/) });
    expect(issued.stderr).toMatch(/^Key key_\w+ for Zoo, plan pro\. Store it now/);
    const [{ id }] = await run('keys', 'list');
    const rotated = await workplace.run('keys', 'rotate', id);
    expect(rotated).toMatchObject({ code: 0, stdout: expect.stringMatching(/^psk_\w{49}\n$/) });
    expect(rotated.stderr).toContain(`It replaces ${id}`);
    const token = await workplace.run('admin', 'issue', '--name', 'Ann');
    expect(token).toMatchObject({ code: 0, stdout: expect.stringMatching(/^psa_\w+\n$/) });
    expect(token.stderr).toMatch(/^Admin token \w+ for Ann/);
  });

  it('doctor reports a port in use, unless the server of this database has it', async () => {
    const [METRICS_PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())];
    const server = await workplace.serve({ METRICS_PORT, ADMIN_PORT });
    const PORT = new URL(server.origin).port;
    const doctor = async (place: Workplace) => {
      const child = place.start(['doctor', '--json'], { PORT, METRICS_PORT, ADMIN_PORT });
      let out = '';
      child.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()));
      await once(child, 'close');
      const { checks } = JSON.parse(out) as { checks: { check: string; status: string }[] };
      return checks.filter(({ check }) => check === 'ports').map(({ status }) => status);
    };
    expect(await doctor(workplace)).toEqual(['ok']);
    using other = new Workplace();
    await other.run('migrate');
    expect(await doctor(other)).toEqual(['failed', 'failed', 'failed']);
    expect(await server.stop()).toBe(0);
  });

  it('prints one JSON value even if an extension prints, with console or directly', async () => {
    workplace.write(
      'petstore.config.js',
      `console.log('loaded'); process.stdout.write('so far'); export default { extensions: [] };`,
    );
    await workplace.run('migrate');
    const issue = ['keys', 'issue', '--name', 'Zoo', '--plan', 'pro', '--json'];
    const { code, stdout, stderr } = await workplace.run(...issue);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ name: 'Zoo', key: expect.any(String) });
    expect(stderr).toBe('loaded\nso far');
  });

  it('changes of keys on the command line take effect on a running server within a second', async () => {
    const server = await workplace.serve({ LOG_FORMAT: 'json', BAN_AFTER_REJECTIONS: '60' });
    const { id, key } = await run('keys', 'issue', '--name', 'Zoo', '--plan', 'pro');
    const client = new Client(server.origin, key);
    const list = () => client.get('/v1/pets');
    expect((await list()).status).toBe(200);

    const plan = ['--plan', 'enterprise', '--per-minute', '1', '--per-day', '9'];
    await run('keys', 'set-plan', id, ...plan);
    await eventually(async () => (await list()).status === 429);
    for (let request = 0; request < 61; request++) await list();
    await eventually(async () => (await list()).text.includes('key_banned'));
    const shown = await run('keys', 'show', id);
    expect(shown).toMatchObject({ id, plan: 'enterprise', perMinute: 1, last4: key.slice(-4) });
    expect(Date.parse(shown.bannedUntil)).toBeGreaterThan(Date.now());
    expect((await run('keys', 'usage', id)).bannedUntil).toBe(shown.bannedUntil);

    await run('keys', 'unban', id);
    await eventually(async () => !(await list()).text.includes('key_banned'));
    await run('keys', 'set-plan', id, '--plan', 'business');
    await eventually(async () => (await list()).status === 200);

    const rotated = await run('keys', 'rotate', id, '--grace', '2s');
    const { expiresAt } = await run('keys', 'show', id);
    await eventually(async () => (await list()).status === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
    const fresh = new Client(server.origin, rotated.key);
    expect((await fresh.get('/v1/pets')).status).toBe(200);
    await run('keys', 'revoke', rotated.id);
    await eventually(async () => (await fresh.get('/v1/pets')).status === 401);

    expect(await server.stop()).toBe(0);
    const { lastUsedAt } = await run('keys', 'show', id);
    expect(Date.parse(lastUsedAt)).toBeLessThan(Date.parse(expiresAt));

    // Neither the log nor the database contains a key.
    const data = join(workplace.directory, 'data');
    const files = readdirSync(data).map((name) => readFileSync(join(data, name), 'latin1'));
    for (const text of [server.output(), ...files]) {
      for (const secret of [key, rotated.key]) expect(text.includes(secret)).toBe(false);
    }
    const line = server
      .output()
      .split('\n')
      .find((each) => each.includes('"operation":"listPets"'));
    expect(JSON.parse(line!)).toMatchObject({
      ...{ requestId: expect.any(String), keyId: id, status: 200, durationMs: expect.any(Number) },
    });
  });
});
