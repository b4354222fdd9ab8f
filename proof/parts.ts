import { crash } from './crash/crash.js';
import { faults } from './faults/faults.js';
import { fuzz } from './fuzz/fuzz.js';
import { model } from './model/model.js';
import { mutation } from './mutation/mutation.js';
import { simulator } from './simulator/simulator.js';
import type { Part } from './part.js';

/**
 * In the order in which `npm run proof` runs them. Parts of one row run at the same time: each of
 * them uses one core. The others use both, or need a machine that is not busy.
 */
export const STAGES: readonly (readonly Part[])[] = [
  [model, simulator],
  [fuzz],
  [crash],
  [faults],
  [mutation],
];

export const PARTS: readonly Part[] = STAGES.flat();
