import { inWords, type Part, type Result, type Run } from '../part.js';
import { Simulation } from './simulation.js';

const SEEDS = { full: 10_000, short: 500 };

async function run({ seed, isShort, path }: Run): Promise<Result> {
  const seeds = isShort ? SEEDS.short : SEEDS.full;
  const [first, end] = path === undefined ? [0, seeds] : [Number(path), Number(path) + 1];
  const statuses: Record<number, number> = { 200: 0, 401: 0, 429: 0, 503: 0 };
  let events = 0;
  for (let index = first; index < end; index++) {
    const simulation = new Simulation(seed + index);
    const found = await simulation.run();
    for (const [status, count] of Object.entries(simulation.statuses)) {
      statuses[Number(status)]! += count;
    }
    events += simulation.events.length;
    if (found.length === 0) continue;
    const [fault] = found;
    const text = [fault, `seed ${seed + index}:`, ...simulation.events].join('\n');
    return { tried: `${index - first + 1} seeds`, figures: {}, faults: [text], path: `${index}` };
  }
  const counts = Object.entries(statuses).map(([status, count]) => `${inWords(count)} x ${status}`);
  // A simulation that no longer fits the service would find nothing.
  const isVacuous = path === undefined && [200, 401, 429].some((status) => statuses[status] === 0);
  return {
    tried: `${inWords(end - first)} seeds`,
    figures: { 'simulated responses': counts.join(', '), 'events put in': inWords(events) },
    faults: isVacuous ? ['a status never occurred: the simulation does not fit the service'] : [],
  };
}

export const simulator: Part = {
  name: 'simulator',
  tries:
    'the classes that limit, ban and authenticate, in four nodes on simulated Redis, PostgreSQL, network and clocks, under one seeded scheduler; connections are refused and silent, Redis pauses and forgets, clocks are set',
  holds:
    'Redis admits no more than the limit, and each node alone continues from what Redis last reported; a caller that waited for `Retry-After` is admitted; a node that knows of a ban enforces it; a revocation takes effect within a second of reach; a pause of Redis of up to 300 ms is no outage',
  needs: [],
  run,
};
