import { inWords, type Part, type Result, type Run } from '../part.js';
import { simulate } from './simulation.js';

const SEEDS = { full: 10_000, short: 60 };

async function run({ seed, isShort, path }: Run): Promise<Result> {
  const seeds = isShort ? SEEDS.short : SEEDS.full;
  const [first, end] = path === undefined ? [0, seeds] : [Number(path), Number(path) + 1];
  const statuses: Record<number, number> = { 200: 0, 401: 0, 429: 0, 503: 0 };
  Error.stackTraceLimit = 0; // The stacks of rejected requests would cost a fifth of the time.
  for (let index = first; index < end; index++) {
    const { events, auditor } = await simulate(seed + index, statuses);
    if (auditor.faults.length === 0) continue;
    const text = [auditor.faults[0], `seed ${seed + index}:`, ...events].join('\n');
    return { tried: `${index - first + 1} seeds`, figures: {}, faults: [text], path: `${index}` };
  }
  const counts = Object.entries(statuses).map(([status, count]) => `${inWords(count)} x ${status}`);
  // A simulation that no longer fits the service would find nothing.
  const isVacuous = path === undefined && [200, 401, 429].some((status) => statuses[status] === 0);
  return {
    tried: `${inWords(end - first)} seeds`,
    figures: { 'simulated responses': counts.join(', ') },
    faults: isVacuous ? ['a status never occurred: the simulation does not fit the service'] : [],
  };
}

export const simulator: Part = {
  name: 'simulator',
  tries:
    'the classes that limit, ban and authenticate, in four nodes on simulated Redis, PostgreSQL, network and clocks, under one seeded scheduler; connections are refused and silent, Redis pauses and forgets, clocks are set',
  holds:
    'Redis admits no more than the limit, and each node alone continues from what Redis last reported; a caller that waited for `Retry-After`, and for the step if a clock was set back, is admitted; a node that knows of a ban enforces it; a revocation takes effect within a second of reach; a pause of Redis of up to 300 ms is no outage',
  needs: [],
  run,
};
