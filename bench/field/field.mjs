// The other programs of the comparison: how each is started, and what it does not do. Each has the animals of the given
// file, if it can hold any.
import { copyFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { PATHS } from '../load.mjs';
import { missingPrograms } from '../machine.mjs';
import { PAGE, root } from '../settings.mjs';
import { answers, freePort } from '../stage.mjs';
import { startDirectus } from './directus.mjs';
import { GO, NEEDS, startGo } from './go.mjs';
import { compileTutorial } from './tutorial/compile.mjs';

const WORKS = ['list', 'get', 'create'];

/**
 * @typedef {object} Context
 * @property {string} file a database of the service, to copy
 * @property {string} keyFile
 * @property {number} pageBytes of a page of the list
 * @property {string} key one of the keys
 * @property {object} floor the floor program, as `load` takes it
 *
 * @typedef {object} Contestant
 * @property {string} name
 * @property {string[]} works
 * @property {string[]} [needs] programs that the machine may lack
 * @property {string} unequal its differences, for the page
 * @property {(stage: object, context: Context) => Promise<object>} start resolves to the server that `load` takes
 */

/** @type {Contestant[]} */
export const FIELD = [
  {
    name: 'ceiling (`node:http`)',
    works: ['list'],
    unequal: 'a constant page of the same size: no key, no quota, no database, no routing',
    start: startCeiling,
  },
  {
    name: GO,
    works: WORKS,
    needs: NEEDS,
    unequal:
      'the same responses and durability, with group commit; no log, metrics, bans or idempotency; SQLite of the system',
    start: startGo,
  },
  tutorial('Fastify', 'fastify'),
  tutorial('Express', 'express'),
  {
    name: 'json-server',
    works: WORKS,
    unequal:
      'no keys, quota or validation; animals in memory; a create rewrites the whole file and does not sync it',
    start: startJsonServer,
  },
  {
    name: 'Prism mock',
    works: WORKS,
    unequal:
      'no animals: responds with the examples of openapi.json after validation; keys are not looked up; no quota',
    start: startPrism,
  },
  {
    name: 'Directus',
    works: WORKS,
    unequal:
      'one static token instead of keys; one quota window by address; no cursors; last version for Node 20',
    start: startDirectus,
  },
];

/** The programs that this machine can start; prints why the others are left out. */
export function fieldHere() {
  return FIELD.filter(({ name, needs = [] }) => {
    const missing = missingPrograms(needs);
    if (missing.length > 0) console.log(`${name} is left out; install ${missing.join(', ')}`);
    return missing.length === 0;
  });
}

function tutorial(title, platform) {
  return {
    name: `tutorial Nest/${title}`,
    works: WORKS,
    unequal:
      'Nest as its guides teach it: no cursors, ids beyond 2^53 rounded, quota in memory only. It counts by key, which ' +
      'is faster than its default (by address). Each commit is synced; concurrent creates share one transaction',
    async start(stage, { file, keyFile }) {
      compileTutorial();
      const database = stage.path(`tutorial-${platform}.db`);
      copyFileSync(file, database);
      const port = await freePort();
      const running = await stage.start({
        name: `tutorial Nest/${title}`,
        args: [`${root}bench/field/tutorial/main.mjs`, platform, database, String(port)],
        env: { NODE_ENV: 'production' },
        port,
        isReady: () => answers(`http://127.0.0.1:${port}${PATHS.list}`),
      });
      return { running, keyFile };
    },
  };
}

/** @returns the server that `load` takes */
export async function startCeiling(stage, { keyFile, pageBytes }) {
  const port = await freePort();
  const running = await stage.start({
    name: 'ceiling (`node:http`)',
    args: [`${root}bench/field/ceiling.mjs`, String(pageBytes), String(port)],
    port,
    isReady: () => answers(`http://127.0.0.1:${port}/`),
  });
  return { running, keyFile };
}

async function startJsonServer(stage, { file, keyFile }) {
  const database = new Database(file, { readonly: true });
  const pets = database
    .prepare('SELECT id, name, category_id AS "categoryId", status FROM pets ORDER BY id')
    .all();
  database.close();
  const [data, routes] = [stage.path('json-server.json'), stage.path('json-server-routes.json')];
  writeFileSync(data, JSON.stringify({ pets }));
  writeFileSync(routes, JSON.stringify({ '/v1/*': '/$1' }));
  const port = await freePort();
  const program = `${root}bench/node_modules/json-server/lib/cli/bin.js`;
  const options = ['--quiet', '--host', '127.0.0.1', '--port', String(port), '--routes', routes];
  const running = await stage.start({
    name: 'json-server',
    args: [program, ...options, data],
    env: { NODE_ENV: 'production' },
    port,
    isReady: () => answers(`http://127.0.0.1:${port}/v1/pets/1`),
  });
  return { running, keyFile, paths: { ...PATHS, list: `/v1/pets?_limit=${PAGE}` } };
}

async function startPrism(stage, { keyFile }) {
  const port = await freePort();
  const program = `${root}bench/node_modules/@stoplight/prism-cli/dist/index.js`;
  const running = await stage.start({
    name: 'Prism mock',
    args: [program, 'mock', '-p', String(port), '-v', 'warn', `${root}openapi.json`],
    env: { NODE_ENV: 'production' },
    port,
    isReady: () => answers(`http://127.0.0.1:${port}/pets`),
  });
  return {
    running,
    keyFile,
    paths: { list: `/pets?limit=${PAGE}`, get: '/pets/', create: '/pets' },
  };
}
