// The programs of the race: how each is started, and what it lacks. All have the same duties: a key by digest, a quota a
// minute and a day, rate-limit headers, an access line, a latency histogram, a durable create.
import { existsSync } from 'node:fs';
import { run } from '../children.mjs';
import { findProgram, missingPrograms } from '../machine.mjs';
import { ADDRESS, root } from '../settings.mjs';
import { answers, freePort } from '../stage.mjs';
import { compileTutorial } from './tutorial/compile.mjs';

/** The service sets this flag of V8 itself. The Fastify program gets it too. */
const NO_PRETENURING = '--no-allocation-site-pretenuring';
/** Debian installs pgx and its dependencies here. */
const GOPATH = '/usr/share/gocode';

/**
 * @typedef {object} Contestant
 * @property {string} id
 * @property {string} name as on the page
 * @property {string} [lacks] what the service does and it does not, for the page
 * @property {string[]} [needs] programs that the machine may lack
 * @property {boolean} [isEqual] its responses have to equal those of the service
 * @property {(stage: object, databaseUrl: string) => Promise<object>} start resolves to a `Running`, see `stage.mjs`
 */

/** @type {Contestant} */
export const SERVICE = {
  id: 'service',
  name: 'the service',
  start: (stage, databaseUrl) => startService(stage, databaseUrl),
};

/** @type {Contestant} */
export const FASTIFY = {
  id: 'fastify',
  name: 'Fastify, by hand',
  lacks: 'exact int64, shared commits',
  isEqual: true,
  start(stage, databaseUrl) {
    const args = [NO_PRETENURING, `${root}bench/field/fastify/main.mjs`, databaseUrl];
    return startProgram(stage, { id: 'fastify', args });
  },
};

/** @type {Contestant} */
export const GO = {
  id: 'go',
  name: 'Go, `net/http`',
  lacks: 'on PostgreSQL, shared commits',
  needs: ['go', 'gcc', 'sqlite3.h', 'pgx'],
  isEqual: true,
  async start(stage, databaseUrl) {
    const program = stage.path('petstore-go');
    const env = { ...process.env, GO111MODULE: 'off', GOPATH, GOCACHE: stage.path('go-cache') };
    const build = ['build', '-o', program, '.'];
    await run(findProgram('go'), build, { cwd: `${root}bench/field/go`, env });
    return startProgram(stage, { id: 'go', command: program, args: [databaseUrl] });
  },
};

/** @type {Contestant} */
export const BUN = {
  id: 'bun',
  name: 'Bun, Elysia',
  lacks: 'exact int64, shared commits',
  isEqual: true,
  async start(stage, databaseUrl) {
    const command = `${root}bench/node_modules/.bin/bun`;
    if (!existsSync(command)) await run('npm', ['ci', '--no-audit', '--prefix', `${root}bench`]);
    const args = [`${root}bench/field/bun/main.mjs`, databaseUrl];
    return startProgram(stage, { id: 'bun', command, args });
  },
};

/** @type {Contestant} */
export const TUTORIAL = {
  id: 'tutorial',
  name: 'tutorial Nest',
  lacks:
    'exact int64, cursors, links and, on PostgreSQL, shared commits. Its throttler counts by key, because that is faster here than by address',
  start(stage, databaseUrl) {
    compileTutorial();
    const args = [`${root}bench/field/tutorial/main.mjs`, databaseUrl];
    return startProgram(stage, { id: 'tutorial', args });
  },
};

/** The service without its guarantees. */
export const UNGUARDED = {
  id: 'unguarded',
  name: 'the service without key, quota, log and metrics',
  start(stage, databaseUrl) {
    const options = { name: 'unguarded', program: `${root}bench/field/unguarded.mjs` };
    return startService(stage, databaseUrl, options);
  },
};

export const FIELD = [SERVICE, FASTIFY, GO, BUN, TUTORIAL];

/** The programs that this machine can start; prints why the others are left out. */
export function fieldHere() {
  return FIELD.filter(({ name, needs = [] }) => {
    const missing = missingPrograms(needs);
    if (missing.length > 0) console.log(`${name} is left out; install ${missing.join(', ')}`);
    return missing.length === 0;
  });
}

/**
 * Starts the service as in production: log at `info` to a file, metrics on.
 * @param {{name?: string, program?: string, flags?: string[]}} options `program` and `flags` of Node: of another build
 */
export async function startService(
  stage,
  databaseUrl,
  { name = 'service', program = `${root}dist/src/main.js`, flags = [] } = {},
) {
  const [port, metricsPort] = [await freePort(), await freePort()];
  return stage.start({
    name,
    args: [...flags, program, 'serve'],
    env: {
      NODE_ENV: 'production',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
      DATABASE_URL: databaseUrl,
      PUBLIC_BASE_URL: `${ADDRESS}/v1`,
    },
    port,
    isReady: () => answers(`http://127.0.0.1:${port}/health/ready`),
  });
}

/** Every program gets the port and the address in its links as further arguments. */
async function startProgram(stage, { id, command, args }) {
  const port = await freePort();
  return stage.start({
    name: id,
    command,
    args: [...args, String(port), ADDRESS],
    env: { NODE_ENV: 'production' },
    port,
    isReady: () => answers(`http://127.0.0.1:${port}/v1/pets`),
  });
}
