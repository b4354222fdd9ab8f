// Part `nodes`: what a request costs on one, two and three nodes with PostgreSQL and Redis, as CPU
// time of each program. On two cores, requests per second would say how the programs share them.
import { setTimeout as pause } from 'node:timers/promises';
import { startService } from '../field/field.mjs';
import { preparePostgres } from '../lib/data.mjs';
import { startPostgres, startRedis } from '../lib/engines.mjs';
import { wrk } from '../lib/load.mjs';
import { cpuSeconds } from '../lib/process.mjs';
import { COMPILED_AFTER_S } from '../settings.mjs';

const MOST_NODES = 3;
const WORKS = ['list', 'get', 'create', 'keyed'];
const CONNECTIONS_PER_NODE = 32;
/** Counters and last uses are saved after the load. */
const UNTIL_SAVED_MS = 1_000;

/**
 * @typedef {{nodes: number, work: string, node: number, postgres: number, redis: number}} Cost
 *   CPU time per request in µs
 * @returns {Promise<Cost[]>}
 */
export async function nodes(stage, pace) {
  const [postgres, redis] = [await startPostgres(stage), await startRedis(stage)];
  const { urls, keyFile } = await preparePostgres(stage, postgres.url, ['nodes']);
  const servers = [];
  const costs = [];
  while (servers.length < MOST_NODES) {
    const settings = { name: `node${servers.length + 1}`, env: { REDIS_URL: redis.url } };
    const running = await startService(stage, urls[0], settings);
    servers.push({ running, keyFile, connections: CONNECTIONS_PER_NODE });
    for (const work of WORKS) {
      const cost = await costOf(stage, servers, { work, pace, others: { postgres, redis } });
      costs.push(cost);
      console.log(`${work}, nodes: ${servers.length}, µs of CPU time a request:`, cost);
    }
  }
  return costs;
}

async function costOf(stage, servers, { work, pace, others }) {
  const rounds = [];
  const loadAll = (seconds) =>
    Promise.all(servers.map((server) => wrk(stage, server, { work, seconds })));
  await loadAll(COMPILED_AFTER_S);
  for (let round = 0; round < pace.rounds; round++) {
    const node = watch(servers.map(({ running }) => running.pid));
    const [postgres, redis] = [watch([others.postgres.pid]), watch([others.redis.pid])];
    const results = await loadAll(pace.seconds);
    await pause(UNTIL_SAVED_MS);
    const requests = results.reduce((sum, each) => sum + each.requests, 0);
    const micros = (seconds) => (seconds / requests) * 1e6;
    rounds.push([node(), postgres(), redis()].map(micros));
  }
  const [node, postgres, redis] = [0, 1, 2].map((at) =>
    Math.min(...rounds.map((each) => each[at])),
  );
  return { nodes: servers.length, work, node, postgres, redis };
}

/** @returns a function for the CPU time since the call, in seconds */
function watch(pids) {
  const now = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const before = now();
  return () => now() - before;
}
