// Loads a server from the other core: as fast as it responds, with wrk, or at a constant rate.
import { CONNECTIONS, OTHER_CORE, PAGE, PETS, root, WARM_UP_SECONDS } from '../settings.mjs';
import { cpuSeconds, settle } from './process.mjs';

/** Paths by kind of request; `keyed` is a create with a new Idempotency-Key. */
const PATHS = {
  list: `/v1/pets?limit=${PAGE}`,
  get: '/v1/pets/',
  create: '/v1/pets',
  keyed: '/v1/pets',
};

/**
 * @typedef {{running: import('./stage.mjs').Running, keyFile: string, pets?: number,
 *   connections?: number}} Server `keyFile`: one API key a line
 * @typedef {{requests: number, perSecond: number, cpuMicros: number}} Figure
 *   `cpuMicros`: CPU time of the server per request
 */

/**
 * Loads a server with wrk, and waits until it has settled.
 * @param {{work: string, seconds: number}} load
 * @returns {Promise<Figure>}
 */
export async function load(stage, server, options) {
  const { pid } = server.running;
  const before = cpuSeconds(pid);
  const { requests, seconds } = await wrk(stage, server, options);
  const used = cpuSeconds(pid) - before;
  await settle(pid);
  return { requests, perSecond: requests / seconds, cpuMicros: (used / requests) * 1e6 };
}

/** @returns {Promise<{requests: number, seconds: number}>} @throws if a request failed */
export async function wrk(stage, server, { work, seconds }) {
  const { running, keyFile, pets = PETS, connections = CONNECTIONS } = server;
  const flags = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s'];
  const script = ['-s', `${root}bench/load/requests.lua`, `http://127.0.0.1:${running.port}`];
  const args = ['--', work, PATHS[work], keyFile, String(pets)];
  const command = ['-c', OTHER_CORE, 'wrk', ...flags, ...script, ...args];
  const output = await stage.run('taskset', command);
  const result = JSON.parse(/RESULT (.*)/.exec(output)[1]);
  if (result.failed > 0) {
    throw new Error(`${running.name}, ${work}: ${result.failed} of ${result.requests} failed`);
  }
  return result;
}

/**
 * Sends requests at a constant rate, whether or not the server keeps up.
 * @returns {Promise<Record<string, number>>} numbers of requests by latency in steps of 10 µs
 */
export async function loadAtRate(stage, { running, keyFile }, { work, perSecond, seconds }) {
  const settings = {
    port: running.port,
    work,
    path: PATHS[work],
    keyFile,
    pets: PETS,
    connections: CONNECTIONS,
    perSecond,
    warmUpSeconds: WARM_UP_SECONDS,
    seconds,
  };
  const program = [`${root}bench/load/open-loop.mjs`, JSON.stringify(settings)];
  const output = await stage.run('taskset', ['-c', OTHER_CORE, process.execPath, ...program]);
  await settle(running.pid);
  return JSON.parse(output);
}
