import { fuzz } from './fuzz/fuzz.js';
import type { Part } from './part.js';

/** In the order in which `npm run proof` runs them. */
export const PARTS: readonly Part[] = [fuzz];
