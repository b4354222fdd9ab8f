// Measures costs that must not grow with the data, and start and memory, which must stay small.
import { growthOfKeys } from './keys.mjs';
import { growthOfPages } from './pages.mjs';
import { timeToReady } from './start.mjs';

const FULL = {
  pages: { small: 1_000, large: 2_000_000 },
  keys: { many: 100_000, rounds: 6, seconds: 5 },
};
const SHORT = {
  pages: { small: 1_000, large: 200_000 },
  keys: { many: 5_000, rounds: 2, seconds: 1 },
};

/** @param {{full: boolean}} options `full: false` uses less data, to check the bench itself */
export async function growth(stage, pace, { full }) {
  const sizes = full ? FULL : SHORT;
  const start = await timeToReady(stage);
  const pages = await growthOfPages(stage, pace, sizes.pages);
  const keys = await growthOfKeys(stage, sizes.keys);
  return { start, costs: [...pages, keys.cost], memory: keys.memory };
}
