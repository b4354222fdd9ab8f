// Part `latency`: latencies at a constant rate, which every program keeps. Each is started anew for
// each kind of request: V8 shrinks the heap of an idle server, and collects when it is loaded again.
import { load, loadAtRate } from './lib/load.mjs';
import { undisturbed } from './lib/process.mjs';
import { prepareField } from './race.mjs';
import { LOW_RATE } from './settings.mjs';

const STEPS_PER_MS = 100;
/** Until then, V8 compiles what the requests need, and its heap grows. */
const SETTLED_AFTER_S = 10;

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
    const { contestants, keyFile } = await prepareField(stage, engine, field);
    for (const [work, perSecond] of Object.entries(LOW_RATE[engine])) {
      const options = { work, perSecond, seconds: pace.openSeconds };
      const entries = [];
      for (const { id, start } of contestants) {
        const server = { running: await start(), keyFile };
        await load(stage, server, { work, seconds: SETTLED_AFTER_S });
        entries.push({ id, ...(await atRate(stage, server, pace, options)) });
        await server.running.stop();
      }
      results.push({ engine, ...options, entries });
      console.log(`${work} on ${engine} at ${perSecond}/s, in ms`);
      console.table(entries);
    }
  }
  return results;
}

async function atRate(stage, server, { openRounds }, options) {
  const rounds = [];
  for (let round = 0; round < openRounds; round++) {
    const counts = await undisturbed(() => loadAtRate(stage, server, options));
    rounds.push(Object.entries(counts).map(([step, count]) => [+step, count]));
  }
  const tails = rounds.map((round) => percentilesOf(round).p999);
  return { ...percentilesOf(rounds.flat()), rounds: tails };
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
