// Measures costs that must not grow with the data, and start and memory, which must stay small.
import { growthOfKeys } from './keys.mjs';
import { growthOfLimiter } from './limiter.mjs';
import { alone } from './alone.mjs';
import { growthOfPages } from './pages.mjs';
import { timeToReady } from './start.mjs';

const FULL = {
  pages: { small: 1_000, large: 2_000_000 },
  keys: { many: 100_000, rounds: 6, seconds: 5 },
};
const SHORT = {
  pages: { small: 1_000, large: 1_000_000 },
  keys: { many: 20_000, rounds: 3, seconds: 2 },
};

/** @param {{full: boolean}} options `full: false` uses less data, to check the bench itself */
export async function growth(stage, pace, { full }) {
  const sizes = full ? FULL : SHORT;
  const limiter = await growthOfLimiter();
  const start = await timeToReady(stage);
  const oneByOne = await alone(stage, pace);
  const pages = await growthOfPages(stage, pace, sizes.pages);
  const keys = await growthOfKeys(stage, sizes.keys);
  return { limiter, start, alone: oneByOne, costs: [...pages, keys.cost], memory: keys.memory };
}
