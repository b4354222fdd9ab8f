import { inWords, type Part, type Result, type Run } from '../part.js';
import { Simulation } from './simulation.js';

const SEEDS = { full: 10_000, short: 500 };

async function run({ seed, isShort, path }: Run): Promise<Result> {
  const seeds = isShort ? SEEDS.short : SEEDS.full;
  const [first, end] = path === undefined ? [0, seeds] : [Number(path), Number(path) + 1];
  let [requests, faultsPutIn] = [0, 0];
  for (let index = first; index < end; index++) {
    const simulation = new Simulation(seed + index);
    const found = await simulation.run();
    requests += simulation.requests;
    faultsPutIn += simulation.events.length;
    if (found.length === 0) continue;
    const [fault] = found;
    const text = [fault, `seed ${seed + index}:`, ...simulation.events].join('\n');
    return { tried: `${index - first + 1} seeds`, figures: {}, faults: [text], path: `${index}` };
  }
  return {
    tried: `${inWords(end - first)} seeds`,
    figures: { 'simulated requests': inWords(requests), 'events put in': inWords(faultsPutIn) },
    faults: [],
  };
}

export const simulator: Part = {
  name: 'simulator',
  promise: 'Four simulated nodes keep limits, Retry-After, bans and revocations under any failure.',
  needs: [],
  run,
};
