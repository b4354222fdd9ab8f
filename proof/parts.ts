import { crash } from './crash/crash.js';
import { faults } from './faults/faults.js';
import { fuzz } from './fuzz/fuzz.js';
import { model } from './model/model.js';
import { mutation } from './mutation/mutation.js';
import { simulator } from './simulator/simulator.js';
import type { Part } from './part.js';

/**
 * In the order in which `npm run proof` runs them. Parts of one row run at the same time: the first
 * of them uses one core, and the other one mostly waits for processes. The rest use both cores.
 */
export const STAGES: readonly (readonly Part[])[] = [
  [simulator, faults],
  [model, crash],
  [fuzz],
  [mutation],
];

export const PARTS: readonly Part[] = STAGES.flat();
