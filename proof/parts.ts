import { crash } from './crash/crash.js';
import { faults } from './faults/faults.js';
import { fuzz } from './fuzz/fuzz.js';
import { model } from './model/model.js';
import { mutation } from './mutation/mutation.js';
import { simulator } from './simulator/simulator.js';
import type { Part } from './part.js';

/** In the order in which `npm run proof` runs them. */
export const PARTS: readonly Part[] = [fuzz, model, simulator, crash, faults, mutation];
