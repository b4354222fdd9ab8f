// The load generator: wrk, on the core that the servers leave free.
import { run } from './children.mjs';
import { ownProcessorSeconds, processorSeconds, settle, writtenBytes } from './process.mjs';
import { ANIMALS, CONNECTIONS, OTHER_CORE, PAGE, root } from './settings.mjs';

const ATTEMPTS = 3;

/** Where a server has its animals. */
export const PATHS = {
  list: `/v1/pets?limit=${PAGE}`,
  get: '/v1/pets/',
  create: '/v1/pets',
  keyed: '/v1/pets',
};
/** Which share of the answers may be an error: of `keyed`, one in ten has to be where keys mean anything. */
const MAY_REFUSE = { keyed: 0.1 };

/**
 * Loads a server, and waits until it has settled.
 * @param {{running: object, keyFile: string, paths?: object, animals?: number, connections?: number,
 *   core?: number | string}} server `core`: of the load
 * @param {{work: string, seconds: number, firstKey?: number}} load the keys are taken in turn from `firstKey` on
 * @returns {Promise<{requests: number, perSecond: number, p50Ms: number, p99Ms: number,
 *   processorMicros: number, ownMicros: number, writtenBytes: number}>}
 *   `processorMicros` is what a request took of the server's processor time, `ownMicros` without that of processes that
 *   it has started, `writtenBytes` what it had written to the disk
 */
export async function load(server, options) {
  for (let attempt = 1; ; attempt++) {
    const figure = await loadOnce(server, options);
    if (figure.requests > 0) return figure;
    // A machine that stood still says nothing of the server; one that never answers is broken.
    const { name } = server.running;
    if (attempt === ATTEMPTS) throw new Error(`${name}, ${options.work}: it does not answer`);
  }
}

async function loadOnce(server, { work, seconds, firstKey = 0 }) {
  const { running, keyFile, paths = PATHS, animals = ANIMALS } = server;
  const { connections = CONNECTIONS, core = OTHER_CORE } = server;
  const wrk = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '--latency'];
  const script = ['-s', `${root}bench/load/requests.lua`, `http://127.0.0.1:${running.port}`, '--'];
  const args = [work, paths[work], keyFile, String(animals), String(firstKey)];
  const before = processorSeconds(running.pid);
  const ownBefore = ownProcessorSeconds(running.pid);
  const writtenBefore = writtenBytes(running.pid);
  const output = await run('taskset', ['-c', String(core), ...wrk, ...script, ...args]);
  const used = processorSeconds(running.pid) - before;
  const own = ownProcessorSeconds(running.pid) - ownBefore;
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
    writtenBytes: (writtenBytes(running.pid) - writtenBefore) / result.requests,
    processorMicros: (used / result.requests) * 1e6,
    ownMicros: (own / result.requests) * 1e6,
  };
}
