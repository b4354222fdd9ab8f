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
const server = spawn(process.execPath, [join(root, 'dist/src/main.js'), 'serve', '--json'], {
  cwd: directory,
  env: { PATH: process.env.PATH, PORT: '0', METRICS_PORT: '0', LOG_LEVEL: 'error' },
  stdio: ['ignore', 'pipe', 'inherit'],
});

try {
  const [line] = await once(server.stdout, 'data');
  // The first start issues a key of the plan Free.
  const { baseUrl, key } = JSON.parse(line);
  const redocly = join(root, 'node_modules/.bin/redocly');
  const options = ['--server', `petstore=${baseUrl}`, '--input', `apiKey=${key}`];
  const { stdout } = await promisify(execFile)(
    redocly,
    ['respect', 'petstore.arazzo.yaml', ...options],
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
