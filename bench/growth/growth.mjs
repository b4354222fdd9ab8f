// What must stay flat, and what must stay small.
import { growthOfKeys } from './keys.mjs';
import { growthOfLimiter } from './limiter.mjs';
import { alone } from './alone.mjs';
import { growthOfPages } from './pages.mjs';
import { timeToReady } from './start.mjs';

const FULL = {
  pages: { small: 1_000, large: 2_000_000 },
  keys: { many: 1_000_000, rounds: 6, seconds: 10 },
};
const SHORT = {
  pages: { small: 1_000, large: 1_000_000 },
  keys: { many: 100_000, rounds: 3, seconds: 2 },
};

/** @param {{full: boolean}} options otherwise with smaller numbers, to see that it works */
export async function growth(stage, pace, { full }) {
  const sizes = full ? FULL : SHORT;
  const limiter = await growthOfLimiter();
  const start = await timeToReady(stage);
  const oneByOne = await alone(stage, pace);
  const pages = await growthOfPages(stage, pace, sizes.pages);
  const keys = await growthOfKeys(stage, sizes.keys);
  return { limiter, start, alone: oneByOne, costs: [...pages, ...keys.costs], memory: keys.memory };
}
