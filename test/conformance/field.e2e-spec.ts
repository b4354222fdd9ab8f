import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runConformance } from '../../conformance/src/index.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { startService } from '../support/start-service.js';

/** Debian installs packages of Go here. */
const GOPATH = '/usr/share/gocode';
const GO_PACKAGES = ['jackc/pgx', 'mattn/go-sqlite3'];

/** Runs the level core on a program of bench/field, with its file of expected failures. */
async function check(name: string, command: string, ...args: string[]): Promise<void> {
  // The program uses the database of a service.
  await using service = await startService();
  const { key } = await service.client();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const all = [...args, service.config.databaseUrl, String(port), origin];
  const child = spawn(command, all, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  try {
    await eventually(() =>
      fetch(`${origin}/v1/pets`).then(
        () => true,
        () => false,
      ),
    );
    const expectedFailures = JSON.parse(
      readFileSync(`conformance/examples/${name}.json`, 'utf8'),
    ) as Record<string, string>;
    const { checks, ok } = await runConformance({
      url: `${origin}/v1`,
      keys: { main: key! },
      levels: ['core'],
      expectedFailures,
    });
    const failed = checks.filter(({ status }) => status === 'failed').map((each) => each.name);
    expect(failed.sort()).toEqual(Object.keys(expectedFailures).sort());
    expect(ok).toBe(true);
  } finally {
    child.kill();
    await ended;
  }
}

describe('the programs of bench/field', () => {
  it('in Fastify fails exactly what its file of expected failures says', async () => {
    await check('fastify', process.execPath, resolve('bench/field/javascript/fastify.mjs'));
  });

  const missing = GO_PACKAGES.filter((name) => !existsSync(`${GOPATH}/src/github.com/${name}`));
  (missing.length > 0 && process.env['CI'] !== 'true' ? it.skip : it)(
    `in Go fails exactly what its file of expected failures says ${missing.join(', ')}`.trim(),
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'petstore-go-'));
      try {
        const program = join(directory, 'petstore-go');
        const env = { ...process.env, GO111MODULE: 'off', GOPATH };
        execFileSync('go', ['build', '-o', program, '.'], { cwd: 'bench/field/go', env });
        await check('go', program);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );
});
