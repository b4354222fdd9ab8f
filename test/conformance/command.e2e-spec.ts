import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { badge, requirements } from '../../conformance/src/index.js';
import { checkSmallServer } from './check-small-server.js';
import { SmallServer } from './small-server.js';

const PROGRAM = resolve('conformance/bin/pet-store-conformance.js');
const MAIN = 'psk_main1234567890ABCD';

interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the program with a key, in an empty environment. */
function run(args: string[], env: Record<string, string> = { PETSTORE_KEY: MAIN }) {
  return new Promise<Finished>((done) => {
    execFile(process.execPath, [PROGRAM, ...args], { env }, (error, stdout, stderr) => {
      done({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

describe('pet-store-conformance', () => {
  const directory = mkdtempSync(join(tmpdir(), 'conformance-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const file = (name: string, content: unknown) => {
    const path = join(directory, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };
  const small = async (...defects: string[]) => {
    const server = new SmallServer(Date.now, defects, 1);
    const scopes = ['pets:read', 'pets:write'];
    server.keys.set(MAIN, { client: 'main', scopes, perMinute: 10_000, perDay: 100_000 });
    const [url = ''] = await server.listen();
    servers.push(server);
    return url;
  };
  const servers: SmallServer[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('has the requirements that are frozen for version 1.0', async () => {
    const frozen = readFileSync('conformance/requirements-1.0.json', 'utf8');
    expect(JSON.parse(frozen)).toEqual(requirements());
    expect((await run(['--list'], {})).stdout).toBe(frozen);
    const names = requirements().requirements.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('exits 0 if every check of a level passes, with and without a trailing slash', async () => {
    const url = await small();
    for (const address of [url, `${url}/`]) {
      const { code, stdout } = await run([address, '--level', 'core']);
      expect(stdout).toContain('conforms to version 1.0');
      expect(code).toBe(0);
    }
  });

  it('exits 1 and prints what was sent and received, without the key', async () => {
    const url = await small('no-filter');
    const { code, stdout } = await run([url, '--only', 'core.list.status-filter']);
    expect(code).toBe(1);
    expect(stdout).toContain('FAILED   core.list.status-filter');
    expect(stdout).toContain('> GET /v1/pets?status=available&limit=100');
    expect(stdout).toContain('> authorization: Bearer ...ABCD');
    expect(stdout).toContain('< 200');
    expect(stdout).not.toContain(MAIN);
  });

  it.each([
    ['no address', []],
    ['an address without /v1', ['http://localhost:3000']],
    ['no http address', ['localhost:3000/v1']],
    ['an unknown level', ['http://localhost:3000/v1', '--level', 'best']],
    ['an unknown check', ['http://localhost:3000/v1', '--only', 'core.nothing']],
    ['an unknown option', ['http://localhost:3000/v1', '--fast']],
    ['a missing file', ['http://localhost:3000/v1', '--expected-failures', 'nowhere.json']],
  ])('exits 2 with one line on %s', async (_what, args) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^pet-store-conformance: .+\n$/);
  });

  it('says that /v1 is missing, and that PETSTORE_KEY is', async () => {
    const { stderr } = await run(['http://localhost:3000/api/']);
    expect(stderr).toContain('/v1 is missing');
    expect(stderr).toContain('http://localhost:3000/api/v1');
    const without = await run(['http://localhost:3000/v1'], {});
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('PETSTORE_KEY')]);
  });

  it('reports a failure that is not expected, and an expected failure that passes', async () => {
    const url = await small('no-filter');
    const name = 'core.list.status-filter';
    const args = [url, '--level', 'core', '--expected-failures'];
    expect((await run([...args, file('one.json', { [name]: 'planted' })])).code).toBe(0);
    const failures = { [name]: 'planted', 'core.get.not-found': 'repaired' };
    const { code, stdout } = await run([...args, file('two.json', failures)]);
    expect(code).toBe(1);
    expect(stdout).toContain('PASSED   core.get.not-found, although it is an expected failure');
    expect((await run([...args, file('three.json', {})])).code).toBe(1);
    expect((await run([...args, file('four.json', { 'core.nothing': 'x' })])).code).toBe(2);
  });

  it('skips what it has no input for, and never counts it as passed', async () => {
    const url = await small();
    const { code, stdout } = await run([url, '--only', 'quota.limit', '--only', 'exact.nodes']);
    expect(code).toBe(0);
    expect(stdout).toContain('skipped  quota.limit.admitted: PETSTORE_SMALL_KEY is not set');
    expect(stdout).toContain('skipped  exact.nodes.read: --node is not given');
    expect(stdout).toContain('quota    0 passed, 0 failed, 7 skipped');
  });

  it('writes JSON alone with --json, JUnit and a badge', async () => {
    const url = await small('no-filter');
    const [junit, svg] = [join(directory, 'junit.xml'), join(directory, 'badge.svg')];
    const args = [url, '--level', 'core', '--json', '--junit', junit, '--badge', svg];
    const { stdout } = await run(args);
    expect(JSON.parse(stdout)).toMatchObject({
      version: '1.0',
      ok: false,
      levels: { core: { failed: 1 } },
    });
    expect(readFileSync(junit, 'utf8')).toMatch(/<testsuite name="core" tests="24" failures="1"/);
    expect(readFileSync(svg, 'utf8')).toContain('no level');
  });

  it('names in the badge only levels without a failed or skipped check', async () => {
    const { report } = await checkSmallServer([], { options: { levels: ['core', 'manners'] } });
    expect(badge(report)).toMatch(/: core<\/title>/);
    const { report: all } = await checkSmallServer([], { hasProxy: true });
    expect(badge(all)).toContain(': core + manners + quota + exact</title>');
  });

  it('paces itself with a key of 60 requests a minute', async () => {
    const { report } = await checkSmallServer([], { perMinute: 60 });
    expect(report.checks.filter(({ status }) => status === 'failed')).toEqual([]);
    expect(report.waitedSeconds).toBeLessThan(120);
    expect(report.levels).toMatchObject({
      core: { skipped: 0 },
      // The checks of smuggling need a proxy.
      manners: { skipped: 8 },
      quota: { skipped: 0 },
    });
  });

  it('keeps to the requests that each check declares', async () => {
    const { CHECKS } = (await import('../../conformance/src/checks/index.js')) as {
      CHECKS: { name: string; cost: Record<string, number> }[];
    };
    const { report } = await checkSmallServer([]);
    const over = report.checks.flatMap(({ name, sent = {} }) => {
      const { cost } = CHECKS.find((check) => check.name === name)!;
      return (['main', 'none', 'read', 'spare'] as const)
        .filter((key) => (sent[key] ?? 0) > (cost[key] ?? 0))
        .map((key) => [name, key, sent[key], cost[key]]);
    });
    expect(over).toEqual([]);
  });

  it('exits 1 if the server cannot be reached', async () => {
    const { code, stdout } = await run(['http://127.0.0.1:1/v1', '--only', 'core.list.is-array']);
    expect(code).toBe(1);
    expect(stdout).toContain('ECONNREFUSED');
  });
});
