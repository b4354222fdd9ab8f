// Part `latency`: latencies at a constant rate. One histogram has all rounds of a program.
import { FASTIFY } from './field/field.mjs';
import { load, loadAtRate } from './lib/load.mjs';
import { startField } from './race.mjs';
import { COMPILED_AFTER_S, LOW_RATE } from './settings.mjs';

const STEPS_PER_MS = 100;

/**
 * @typedef {{id: string, requests: number, p50: number, p90: number, p99: number, p999: number}}
 *   Latency in ms
 * @typedef {{engine: string, work: string, perSecond: number, entries: Latency[]}} Latencies
 */

/**
 * On SQLite also at half of what the service can process. On PostgreSQL, the load generator shares
 * a core with the database, so such a rate would measure the load generator.
 * @param {import('./field/field.mjs').Contestant[]} field the service first
 * @returns {Promise<Latencies[]>}
 */
export async function latency(stage, pace, field) {
  const results = [];
  for (const engine of ['sqlite', 'postgres']) {
    const servers = await startField(stage, engine, field);
    const measure = async (work, perSecond, taking) => {
      const entries = await atRate(stage, taking, { work, perSecond, pace });
      results.push({ engine, work, perSecond, entries });
      console.log(`${work} on ${engine} at ${perSecond}/s, in ms`);
      console.table(entries);
    };
    for (const work of Object.keys(LOW_RATE)) {
      for (const server of servers) await load(stage, server, { work, seconds: COMPILED_AFTER_S });
      await measure(work, LOW_RATE[work], servers);
      if (engine === 'postgres') continue;
      const { perSecond } = await load(stage, servers[0], { work, seconds: pace.seconds });
      // Fastify cannot process half of what the service can, at least not in creates.
      const fast = servers.filter(({ id }) => id !== FASTIFY.id);
      await measure(work, Math.floor(perSecond / 2), fast);
    }
    for (const { running } of servers) await running.stop();
  }
  return results;
}

async function atRate(stage, servers, { work, perSecond, pace }) {
  const measured = new Map(servers.map(({ id }) => [id, new Map()]));
  for (let round = 0; round < pace.openRounds; round++) {
    for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
      const steps = measured.get(server.id);
      const options = { work, perSecond, seconds: pace.openSeconds };
      const counts = await loadAtRate(stage, server, options);
      for (const [step, count] of Object.entries(counts)) {
        steps.set(Number(step), (steps.get(Number(step)) ?? 0) + count);
      }
    }
  }
  return Array.from(measured, ([id, steps]) => ({ id, ...percentilesOf(steps) }));
}

/** @param {Map<number, number>} steps numbers of requests by latency in steps of 10 µs */
function percentilesOf(steps) {
  const sorted = [...steps].sort(([one], [other]) => one - other);
  const requests = sorted.reduce((sum, [, count]) => sum + count, 0);
  const percentile = (share) => {
    let seen = 0;
    const [step] = sorted.find(([, count]) => (seen += count) >= requests * share);
    return step / STEPS_PER_MS;
  };
  const [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(percentile);
  return { requests, p50, p90, p99, p999 };
}
