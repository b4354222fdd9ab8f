// `npm run cluster`: runs PostgreSQL, Redis, two nodes and nginx from local programs, as
// compose.yaml does. All use one temporary directory and free ports of the loopback address. Ctrl-C
// stops all.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import pg from 'pg';
import './build-if-stale.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const MAIN = join(root, 'dist/src/main.js');
const NODES = 2;
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;

/** Programs and their Debian packages. */
const PROGRAMS = { initdb: 'postgresql', 'redis-server': 'redis-server', nginx: 'nginx' };
const BESIDE_THE_PATH = [
  ...[18, 17, 16, 15].map((version) => `/usr/lib/postgresql/${version}/bin`),
  '/usr/local/sbin',
  '/usr/sbin',
];

/**
 * In the order of their start. They are stopped in reverse order, so that none loses a program that
 * it uses.
 */
const processes = [];
let stopping = false;

function findPrograms() {
  const folders = [...process.env.PATH.split(delimiter), ...BESIDE_THE_PATH];
  const paths = {};
  const missing = [];
  for (const [program, debianPackage] of Object.entries(PROGRAMS)) {
    paths[program] = folders
      .map((folder) => join(folder, program))
      .find((path) => existsSync(path));
    if (paths[program] === undefined) missing.push(`${program} (apt-get install ${debianPackage})`);
  }
  if (missing.length > 0)
    throw new Error(`The cluster needs programs that are missing: ${missing.join(', ')}`);
  return paths;
}

/** Free ports. All are held until all are known, so that they differ. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** Starts a program and prints its output with its name before each line. */
function start(name, command, args, options = {}) {
  // Detached, so that Ctrl-C reaches only this script, which stops all in order.
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...options,
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => print(`${name.padEnd(8)} | ${line}`));
  }
  child.once('error', (error) => void end(1, `${name} did not start: ${error.message}`));
  child.once('exit', (code, signal) => {
    if (stopping) return;
    print(`${name.padEnd(8)} | ended (${signal ?? `exit ${code}`})`);
    // A node may be stopped to see that the other continues. Without one of the others, the cluster
    // ends.
    if (!name.startsWith('node')) void end(1, `${name} has ended, so the cluster is stopped.`);
  });
  processes.push({ name, child, stopSignal: options.stopSignal ?? 'SIGTERM' });
  return child;
}

function print(line) {
  process.stdout.write(`${line}\n`);
}

async function waitFor(name, isUp) {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!stopping && performance.now() < deadline) {
    if (await isUp().catch(() => false)) return;
    await sleep(100);
  }
  if (!stopping) throw new Error(`${name} was not ready within ${START_TIMEOUT_MS / 1000} s`);
}

const answers = (url) => () => fetch(url).then((response) => response.ok);

/** PostgreSQL does not run as root: the account of its package is used then. */
function unprivileged() {
  if (process.getuid() !== 0) return {};
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function startPostgres(initdb, directory, port) {
  const account = unprivileged();
  const options = { ...account, cwd: directory };
  mkdirSync(directory);
  if (account.uid !== undefined) chownSync(directory, account.uid, account.gid);
  const data = join(directory, 'data');
  const settings = ['--auth=trust', '--username=petstore', '--encoding=UTF8', '--no-locale'];
  execFileSync(initdb, ['-D', data, ...settings], {
    ...options,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const programs = dirname(initdb);
  const address = ['-h', '127.0.0.1', '-p', String(port)];
  start('postgres', join(programs, 'postgres'), ['-D', data, ...address, '-k', directory], {
    ...options,
    stopSignal: 'SIGINT',
  });
  const server = `postgres://petstore@127.0.0.1:${port}`;
  await waitFor('PostgreSQL', async () => {
    const client = new pg.Client({ connectionString: `${server}/postgres` });
    await client.connect();
    await client.query('CREATE DATABASE petstore');
    await client.end();
    return true;
  });
  return `${server}/petstore`;
}

async function startRedis(program, directory, port) {
  mkdirSync(directory);
  const settings = ['--bind', '127.0.0.1', '--port', String(port), '--dir', directory];
  start('redis', program, [...settings, '--appendonly', 'yes', '--maxmemory-policy', 'noeviction']);
  const client = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  await waitFor('Redis', async () => {
    await client.connect();
    return true;
  });
  client.disconnect();
  return `redis://127.0.0.1:${port}`;
}

/** The site of deploy/ on local addresses, with a main configuration that needs no privileges. */
async function startNginx(program, directory, port, nodePorts) {
  mkdirSync(directory);
  const site = readFileSync(join(root, 'deploy/nginx/petstore.conf'), 'utf8')
    .replace(/server node(\d):3000/g, (_all, node) => `server 127.0.0.1:${nodePorts[node - 1]}`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`);
  writeFileSync(join(directory, 'petstore.conf'), site);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${directory}/${kind};`)
    .join('\n  ');
  const user = process.getuid() === 0 ? 'user root;' : '';
  writeFileSync(
    join(directory, 'nginx.conf'),
    `${user}
worker_processes 1;
daemon off;
pid ${directory}/nginx.pid;
error_log stderr warn;
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary}
  include ${directory}/petstore.conf;
}
`,
  );
  start('nginx', program, ['-e', 'stderr', '-p', directory, '-c', join(directory, 'nginx.conf')], {
    stopSignal: 'SIGQUIT',
  });
  await waitFor('nginx', answers(`http://127.0.0.1:${port}/health/live`));
}

/** Runs one command of the program with --json. @returns the parsed output */
async function petstore(environment, cwd, ...args) {
  const child = spawn(process.execPath, [MAIN, ...args, '--json'], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`petstore ${args.join(' ')} failed with exit code ${code}`);
  return JSON.parse(text);
}

async function stop({ name, child, stopSignal }) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill(stopSignal);
  const inTime = await Promise.race([exited, sleep(STOP_TIMEOUT_MS, 'late', { ref: false })]);
  if (inTime !== 'late') return;
  print(`${name.padEnd(8)} | did not end within ${STOP_TIMEOUT_MS / 1000} s and is killed`);
  child.kill('SIGKILL');
  await exited;
}

const directory = mkdtempSync(join(tmpdir(), 'petstore-cluster-'));

async function end(exitCode, message) {
  if (stopping) return;
  stopping = true;
  if (message !== undefined) process.stderr.write(`${message}\n`);
  for (const entry of processes.toReversed()) await stop(entry);
  rmSync(directory, { recursive: true, force: true });
  process.exit(exitCode);
}

async function run() {
  const programs = findPrograms();
  // PostgreSQL may run as another user and needs to pass through.
  execFileSync('chmod', ['711', directory]);
  const [port, postgresPort, redisPort, ...rest] = await freePorts(3 + 2 * NODES);
  const [nodePorts, metricsPorts] = [rest.slice(0, NODES), rest.slice(NODES)];
  const databaseUrl = await startPostgres(
    programs.initdb,
    join(directory, 'postgres'),
    postgresPort,
  );
  const redisUrl = await startRedis(programs['redis-server'], join(directory, 'redis'), redisPort);
  const origin = `http://127.0.0.1:${port}`;
  const environment = {
    LOG_FORMAT: 'json',
    ...process.env,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    TRUST_PROXY: '127.0.0.1',
    PUBLIC_BASE_URL: `${origin}/v1`,
  };
  await petstore(environment, directory, 'migrate');
  nodePorts.forEach((nodePort, index) => {
    const own = { PORT: String(nodePort), METRICS_PORT: String(metricsPorts[index]) };
    start(`node${index + 1}`, process.execPath, [MAIN, 'serve'], {
      cwd: directory,
      env: { ...environment, ...own },
    });
  });
  for (const nodePort of nodePorts) {
    await waitFor(`Node on port ${nodePort}`, answers(`http://127.0.0.1:${nodePort}/health/ready`));
  }
  await startNginx(programs.nginx, join(directory, 'nginx'), port, nodePorts);
  const { key } = await petstore(
    environment,
    directory,
    'keys',
    'issue',
    '--name',
    'demo',
    '--plan',
    'free',
  );
  introduce(origin, key, { databaseUrl, redisUrl, nodePorts, metricsPorts });
}

function introduce(origin, key, { databaseUrl, redisUrl, nodePorts, metricsPorts }) {
  const nodes = processes.filter(({ name }) => name.startsWith('node'));
  const rows = nodes.map(
    ({ name, child }, index) =>
      `    ${name}       http://127.0.0.1:${nodePorts[index]}  process ${child.pid}, metrics http://127.0.0.1:${metricsPorts[index]}/metrics`,
  );
  print(`
  The cluster is running:

    ${origin}/v1     documentation: ${origin}/docs

  Try it:

    curl -i -H 'Authorization: Bearer ${key}' ${origin}/v1/pets

  Nodes and databases:

${rows.join('\n')}
    PostgreSQL  ${databaseUrl}
    Redis       ${redisUrl}

  Stop a node with "kill PROCESS" to see that the other continues. Stop everything with Ctrl-C.
`);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(0));
run().catch((error) => end(1, error.message));
