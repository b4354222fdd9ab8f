import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SharedNames } from '../../src/rate-limits/names.js';

/** Many come of whom nobody keeps anything, so that each number that is not held is given to others. */
export async function passBy(names: SharedNames): Promise<void> {
  const many = 2 * names.size + 10_000;
  for (const crowd of ['first', 'second']) {
    for (let count = 0; count < many; count++) names.add(`${crowd}_${count}`);
    await nextTurn();
  }
  if (names.find('first_0') !== undefined) throw new Error('Nobody was let go');
}
