// `node scripts/client-on-nodes.mjs [VERSION...]`: tests the built client on each supported version
// of Node, in parallel, against one service. The versions come from the npm package `node`.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const MAIN = here('../dist/src/main.js');
const PROGRAM = here('../test/package/program.mjs');
const args = process.argv.slice(2);
const versions = args.length > 0 ? args : ['20', '22', '24'];

const directory = mkdtempSync(join(tmpdir(), 'petstore-client-on-nodes-'));
const service = {
  cwd: directory,
  env: { PATH: process.env.PATH, PORT: '0', METRICS_PORT: '0', LOG_LEVEL: 'error' },
};
const server = spawn(process.execPath, [MAIN, 'serve', '--json', '--no-demo'], {
  ...service,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const exited = once(server, 'exit');

/** npm caches the downloaded versions. */
async function runOn(version, origin) {
  const issue = ['keys', 'issue', '--name', version, '--plan', 'pro', '--json'];
  const { key } = JSON.parse(execFileSync(process.execPath, [MAIN, ...issue], service));
  const own = process.versions.node.startsWith(`${version}.`);
  const [command, ...parameters] = own
    ? [process.execPath, PROGRAM]
    : ['npm', 'exec', '--yes', `--package=node@${version}`, '--', 'node', PROGRAM];
  const env = { ...process.env, PETSTORE_URL: `${origin}/v1`, PETSTORE_API_KEY: key };
  const child = spawn(command, parameters, { cwd: directory, env, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) {
    console.error(`Node ${version}: the client fails`);
    process.exitCode = 1;
  }
}

try {
  const [line] = await Promise.race([
    once(server.stdout, 'data'),
    exited.then(() => Promise.reject(new Error('The service has not started'))),
  ]);
  const { origin } = JSON.parse(line);
  await Promise.all(versions.map((version) => runOn(version, origin)));
} finally {
  server.kill('SIGTERM');
  await exited;
  rmSync(directory, { recursive: true, force: true });
}
