// `npm run acceptance`: the acceptance test of a deployment, on a service that it starts itself.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'petstore-acceptance-'));
const program = join(root, 'dist/src/main.js');
const env = { PATH: process.env.PATH, PORT: '0', METRICS_PORT: '0', LOG_LEVEL: 'error' };
const run = promisify(execFile);
const server = spawn(process.execPath, [program, 'serve', '--json'], {
  cwd: directory,
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});

/** A key that the test rotates and revokes. */
async function issueDisposable() {
  const options = ['--name', 'Disposable', '--plan', 'free', '--scopes', 'pets:read,key:rotate'];
  const issue = [program, 'keys', 'issue', ...options, '--json'];
  const { stdout } = await run(process.execPath, issue, { cwd: directory, env });
  return JSON.parse(stdout).key;
}

try {
  const [line] = await once(server.stdout, 'data');
  // The first start issues a key of the plan Free.
  const { baseUrl, key } = JSON.parse(line);
  const inputs = { apiKey: key, disposableKey: await issueDisposable() };
  const options = Object.entries(inputs).flatMap(([name, value]) => [
    '--input',
    `${name}=${value}`,
  ]);
  const { stdout } = await run(
    join(root, 'node_modules/.bin/redocly'),
    ['respect', 'petstore.arazzo.yaml', '--server', `petstore=${baseUrl}`, ...options],
    { cwd: root, env: { ...process.env, REDOCLY_TELEMETRY: 'off' }, maxBuffer: 1e8 },
  );
  console.log(stdout.slice(stdout.lastIndexOf('Summary for')));
} catch (error) {
  console.error(error.stdout ?? error);
  process.exitCode = 1;
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(directory, { recursive: true, force: true });
}
