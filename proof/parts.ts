import { crash } from './crash/crash.js';
import { faults } from './faults/faults.js';
import { fuzz } from './fuzz/fuzz.js';
import { model } from './model/model.js';
import { mutation } from './mutation/mutation.js';
import { simulator } from './simulator/simulator.js';
import type { Part } from './part.js';

/**
 * What `npm run proof` runs, in stages. A stage runs its rows at the same time, and the parts of a
 * row one after the other: one row uses one core, and the other one mostly waits. Crashes have both
 * cores, because they measure how long a start takes.
 */
export const STAGES: readonly (readonly (readonly Part[])[])[] = [
  [[simulator], [faults, fuzz]],
  [[crash]],
  [[mutation], [model]],
];

export const PARTS: readonly Part[] = STAGES.flat(2);
