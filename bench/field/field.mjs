// The programs that are compared. All have the same duties: a key by digest, two quotas, rate-limit
// headers, an ETag, an access line, a latency histogram, a durable create.
import { findProgram, missingPrograms } from '../lib/machine.mjs';
import { RUNTIMES } from '../lib/runtime.mjs';
import { freePort, responds } from '../lib/stage.mjs';
import { ADDRESS, OTHER_CORE, root, SERVER_CORE } from '../settings.mjs';

/** The flags that the service advises. The Fastify program gets them too; the guides have none. */
const NODE_FLAGS = ['--max-semi-space-size=64', '--no-allocation-site-pretenuring'];
/** Debian installs packages of Go here. */
const GOPATH = '/usr/share/gocode';
/** Compiling SQLite takes a minute, so it is kept. */
const GOCACHE = `${root}node_modules/.cache/go-build`;
const SOURCES = `${root}bench/field`;
const FASTIFY_PROGRAM = { args: [...NODE_FLAGS, `${SOURCES}/javascript/fastify.mjs`] };
const BUN_PROGRAM = {
  command: findProgram('bun'),
  args: [`${SOURCES}/javascript/elysia.mjs`],
  env: { ELYSIA: RUNTIMES },
};

/**
 * @typedef {{id: string, name: string, needs?: string[], engine?: string, works?: string[],
 *   isEqual?: boolean,
 *   start: (stage, databaseUrl: string) => Promise<import('../lib/stage.mjs').Running>}} Contestant
 *   `needs`: programs that the machine may lack; `engine`, `works`: the only ones; `isEqual`: its
 *   responses have to equal the service's
 */

/** @type {Contestant} */
export const SERVICE = { id: 'service', name: 'the service', start: startService };

export const FASTIFY = {
  ...{ id: 'fastify', name: 'Fastify, hand-written', isEqual: true },
  start: (stage, databaseUrl) => startProgram(stage, 'fastify', databaseUrl, FASTIFY_PROGRAM),
};
const BUN = {
  ...{ id: 'bun', name: 'Elysia on Bun', needs: ['bun'], engine: 'sqlite', isEqual: true },
  start: (stage, databaseUrl) => startProgram(stage, 'bun', databaseUrl, BUN_PROGRAM),
};
export const GO = {
  ...{ id: 'go', name: 'Go, `net/http`', needs: ['go', 'pgx', 'go-sqlite3'], isEqual: true },
  async start(stage, databaseUrl) {
    const command = stage.path('petstore-go');
    const env = { ...process.env, GO111MODULE: 'off', GOPATH, GOCACHE };
    const build = ['build', '-o', command, '.'];
    await stage.run(findProgram('go'), build, { cwd: `${SOURCES}/go`, env });
    return startProgram(stage, 'go', databaseUrl, { command });
  },
};
export const TUTORIAL = {
  ...{ id: 'tutorial', name: 'tutorial Nest' },
  async start(stage, databaseUrl) {
    const compiler = `${root}node_modules/typescript/bin/tsc`;
    await stage.run(process.execPath, [compiler, '-p', SOURCES]);
    // In dist/, where the packages of the service are found.
    return startProgram(stage, 'tutorial', databaseUrl, {
      args: [`${root}dist/bench/tutorial.js`],
    });
  },
};

const variant = (id, name, settings, others) => ({
  ...{ id, name, engine: 'sqlite', ...others },
  start: (stage, databaseUrl) => startService(stage, databaseUrl, { name: id, ...settings }),
});

/** On the release that started the bench, for which `node_modules` has SQLite. */
const OLD_RUNTIME = { command: process.env.NODE_20, env: { NODE_OPTIONS: '', BETTER_SQLITE3: '' } };
const NODE_20 = variant('node-20', 'the service, Node 20', OLD_RUNTIME, { needs: ['node-20'] });
/** What remains without keys, quotas, log and metrics. */
const WITHOUT = { program: [`${SOURCES}/bare.mjs`], env: { LOG_LEVEL: 'silent' } };
const BARE = variant('bare', 'without key, quota, log', WITHOUT, { works: ['list', 'get'] });
/** The load generator shares this core. */
const SECOND_CORE = { core: `${SERVER_CORE},${OTHER_CORE}` };
export const TWO_CORES = variant('two-cores', 'the service, two cores', SECOND_CORE);

/** The service in other ways, which no goal and no chart compares. */
export const VARIANTS = new Set([NODE_20.id, BARE.id, TWO_CORES.id]);
export const FIELD = [SERVICE, NODE_20, BARE, FASTIFY, BUN, GO, TUTORIAL];
export const NAMES = new Map([...FIELD, TWO_CORES].map(({ id, name }) => [id, name]));
NAMES.set('keyed', 'the service, keyed create');

/** The programs that this machine can start; prints why the others are left out. */
export function startable(field) {
  return field.filter(({ name, needs = [] }) => {
    const missing = missingPrograms(needs);
    if (missing.length > 0) console.log(`${name} is left out; install ${missing.join(', ')}`);
    return missing.length === 0;
  });
}

/**
 * Starts the service as in production: log at `info` to a file, metrics on.
 * @param {{name?: string, build?: string, program?: string[], command?: string, core?: string,
 *   env?: object}} settings `build`: the folder of another build; `program`: instead of the service
 */
export async function startService(stage, databaseUrl, settings = {}) {
  const { name = 'service', build = root, env, command, core } = settings;
  const { program = [`${build}dist/src/main.js`, 'serve'] } = settings;
  const [port, metricsPort] = [await freePort(), await freePort()];
  const required = {
    NODE_ENV: 'production',
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    LOG_LEVEL: 'info',
    LOG_FORMAT: 'json',
    DATABASE_URL: databaseUrl,
    PUBLIC_BASE_URL: `${ADDRESS}/v1`,
  };
  return stage.start({
    name,
    command,
    core,
    args: [...NODE_FLAGS, ...program],
    env: { ...required, ...env },
    port,
    isReady: () => responds(`http://127.0.0.1:${port}/health/ready`),
  });
}

/** Starts a program with the database, the port and the address in its links as arguments. */
async function startProgram(stage, name, databaseUrl, { command, args = [], env }) {
  const port = await freePort();
  return stage.start({
    ...{ name, command, port },
    args: [...args, databaseUrl, String(port), ADDRESS],
    env: { NODE_ENV: 'production', ...env },
    isReady: () => responds(`http://127.0.0.1:${port}/v1/pets`),
  });
}
