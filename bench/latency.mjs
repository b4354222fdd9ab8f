// Part `latency`: latencies at a constant rate, which every program keeps.
import { load, loadAtRate } from './lib/load.mjs';
import { startField } from './race.mjs';
import { COMPILED_AFTER_S, LOW_RATE } from './settings.mjs';

const STEPS_PER_MS = 100;

/**
 * @typedef {{id: string, requests: number, p50: number, p99: number, p999: number,
 *   rounds: number[]}} Latency in ms, of all rounds; `rounds`: the p99.9 of each
 * @typedef {{engine: string, work: string, perSecond: number, seconds: number,
 *   entries: Latency[]}} Latencies `seconds`: of a round
 */

/**
 * @param {import('./field/field.mjs').Contestant[]} field the service first
 * @returns {Promise<Latencies[]>}
 */
export async function latency(stage, pace, field) {
  const results = [];
  for (const engine of ['sqlite', 'postgres']) {
    const servers = await startField(stage, engine, field);
    for (const [work, perSecond] of Object.entries(LOW_RATE)) {
      for (const server of servers) await load(stage, server, { work, seconds: COMPILED_AFTER_S });
      const seconds = pace.openSeconds;
      const entries = await atRate(stage, servers, pace, { work, perSecond, seconds });
      results.push({ engine, work, perSecond, seconds, entries });
      console.log(`${work} on ${engine} at ${perSecond}/s, in ms`);
      console.table(entries);
    }
    for (const { running } of servers) await running.stop();
  }
  return results;
}

async function atRate(stage, servers, { openRounds }, options) {
  const measured = new Map(servers.map(({ id }) => [id, []]));
  for (let round = 0; round < openRounds; round++) {
    for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
      const counts = await loadAtRate(stage, server, options);
      measured.get(server.id).push(Object.entries(counts).map(([step, count]) => [+step, count]));
    }
  }
  return Array.from(measured, ([id, rounds]) => {
    const percentiles = percentilesOf(rounds.flat());
    return { id, ...percentiles, rounds: rounds.map((each) => percentilesOf(each).p999) };
  });
}

/** @param {[number, number][]} steps numbers of requests by latency in steps of 10 µs */
function percentilesOf(steps) {
  const sorted = steps.toSorted(([one], [other]) => one - other);
  const requests = sorted.reduce((sum, [, count]) => sum + count, 0);
  const percentile = (share) => {
    let seen = 0;
    const [step] = sorted.find(([, count]) => (seen += count) >= requests * share);
    return step / STEPS_PER_MS;
  };
  const [p50, p99, p999] = [0.5, 0.99, 0.999].map(percentile);
  return { requests, p50, p99, p999 };
}
