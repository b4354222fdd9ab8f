// Part `growth`: costs that must not grow with the data, the time to start, and memory.
import { setTimeout as pause } from 'node:timers/promises';
import { startService } from '../field/field.mjs';
import { prepareSqlite } from '../lib/data.mjs';
import { load } from '../lib/load.mjs';
import { memoryMb } from '../lib/process.mjs';
import { runRounds } from '../race.mjs';
import { CONNECTIONS, KEYS } from '../settings.mjs';

const MANY_CONNECTIONS = 1_000;
const FULL = { few: 1_000, many: 2_000_000, manyKeys: 100_000, idleMs: 40_000, loadSeconds: 20 };
const SHORT = { few: 1_000, many: 20_000, manyKeys: 2_000, idleMs: 0, loadSeconds: 1 };

/**
 * @typedef {{id: string, name: string, ratio: number}} Cost the CPU time per request, as a ratio
 * @returns {Promise<{readyMs: number, costs: Cost[], memory: {idleMb: number, loadedMb: number,
 *   keys: number, ownMb: number}}>} `ownMb`: memory that the keys need in addition
 */
export async function growth(stage, pace) {
  const { few, many, manyKeys, idleMs, loadSeconds: seconds } = pace.isShort ? SHORT : FULL;
  const small = await serve(stage, { pets: few });
  // V8 gives back the memory of the start once the server has been idle for some 20 seconds.
  await pause(idleMs);
  const idleMb = memoryMb(small.running.pid);
  const large = await serve(stage, { pets: many });
  const keys = await serve(stage, { pets: few, keys: manyKeys });
  // Every key is used once.
  for (const server of [small, keys]) await load(stage, server, { work: 'get', seconds });
  const [loadedMb, allMb] = [small, keys].map(({ running }) => memoryMb(running.pid));
  const crowded = { ...small, connections: MANY_CONNECTIONS };
  const pets = `${count(many)} to ${count(few)} pets`;
  const cases = [
    ['pets-list', `list: ${pets}`, 'list', large, small],
    ['pets-get', `get: ${pets}`, 'get', large, small],
    ['connections', `get: 1,000 to ${CONNECTIONS} connections`, 'get', crowded, small],
    ['keys', `get: ${count(manyKeys)} to ${count(KEYS)} keys`, 'get', keys, small],
  ];
  const costs = [];
  for (const [id, name, work, one, other] of cases) {
    const runners = [one, other].map((server, at) => ({ id: at, server, work }));
    const [here, there] = await runRounds(stage, runners, pace);
    const ratio = here.cpuMicros / there.cpuMicros;
    costs.push({ id, name, ratio });
    console.log(`${name}: ${ratio.toFixed(2)} times the CPU time`);
  }
  for (const { running } of [small, large, keys]) await running.stop();
  const readyMs = Math.min(...[small, large, keys].map(({ running }) => running.readyMs));
  const memory = { idleMb, loadedMb, keys: manyKeys, ownMb: allMb - loadedMb };
  console.log('ready in ms:', readyMs, 'memory in MB:', memory);
  return { readyMs, costs, memory };
}

async function serve(stage, { pets, keys }) {
  const prepared = await prepareSqlite(stage, `pets-${pets}-keys-${keys ?? 'all'}`, { pets, keys });
  const running = await startService(stage, `sqlite:${prepared.file}`);
  return { running, keyFile: prepared.keyFile, pets };
}

const count = (number) => number.toLocaleString('en');
