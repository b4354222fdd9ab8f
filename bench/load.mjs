// Loads a server, on the core that the server does not use: as fast as it responds, with wrk, or at a constant rate.
import { run } from './children.mjs';
import { processorSeconds, settle } from './process.mjs';
import { ANIMALS, CONNECTIONS, OTHER_CORE, PAGE, root } from './settings.mjs';

const ATTEMPTS = 3;

/** Paths by kind of request. */
export const PATHS = {
  list: `/v1/pets?limit=${PAGE}`,
  get: '/v1/pets/',
  create: '/v1/pets',
  keyed: '/v1/pets',
};
/** Allowed share of error responses: one in ten `keyed` requests repeats a key with another body. */
const MAY_REFUSE = { keyed: 0.1 };

/**
 * Loads a server, and waits until it has settled.
 * @param {{running: object, keyFile: string, paths?: object, animals?: number, connections?: number}} server
 * @param {{work: string, seconds: number, firstKey?: number}} load keys are used in turn, starting with `firstKey`
 * @returns {Promise<{requests: number, perSecond: number, p50Ms: number, p99Ms: number,
 *   processorMicros: number}>} `processorMicros`: processor time of the server per request
 */
export async function load(server, options) {
  for (let attempt = 1; ; attempt++) {
    const figure = await loadOnce(server, options);
    if (figure.requests > 0) return figure;
    // One round without a response may be a pause of the machine.
    const { name } = server.running;
    if (attempt === ATTEMPTS) throw new Error(`${name}, ${options.work}: it does not respond`);
  }
}

/**
 * Sends requests at a constant rate, whether or not the server keeps up.
 * @param {{work: string, perSecond: number, warmUpSeconds: number, seconds: number}} options
 * @returns {Promise<{requests: number, p50Ms: number, p99Ms: number}>}
 */
export async function loadAtRate({ running, keyFile }, { work, ...options }) {
  const settings = {
    ...{ port: running.port, work, path: PATHS[work], keyFile },
    ...{ animals: ANIMALS, connections: CONNECTIONS, ...options },
  };
  const program = [process.execPath, `${root}bench/load/open-loop.mjs`, JSON.stringify(settings)];
  const figure = JSON.parse(await run('taskset', ['-c', String(OTHER_CORE), ...program]));
  await settle(running.pid);
  return figure;
}

async function loadOnce(server, { work, seconds, firstKey = 0 }) {
  const { running, keyFile, paths = PATHS, animals = ANIMALS, connections = CONNECTIONS } = server;
  const wrk = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '--latency'];
  const script = ['-s', `${root}bench/load/requests.lua`, `http://127.0.0.1:${running.port}`, '--'];
  const args = [work, paths[work], keyFile, String(animals), String(firstKey)];
  const before = processorSeconds(running.pid);
  const output = await run('taskset', ['-c', String(OTHER_CORE), ...wrk, ...script, ...args]);
  const used = processorSeconds(running.pid) - before;
  const result = JSON.parse(/RESULT (.*)/.exec(output)[1]);
  const failed = result.errors + result.refused;
  if (result.errors > 0 || result.refused > (MAY_REFUSE[work] ?? 0) * result.requests)
    throw new Error(`${running.name}, ${work}: ${failed} of ${result.requests} failed`);
  await settle(running.pid);
  return {
    requests: result.requests,
    perSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    processorMicros: (used / result.requests) * 1e6,
  };
}
