// Measures the time from the start of `node` to the first response of a ready server, on a migrated file.
import { median } from '../compare.mjs';
import { prepareSqlite } from '../data.mjs';
import { startService } from '../field/field.mjs';
import { ANIMALS } from '../settings.mjs';

const STARTS = 5;

/** @returns {Promise<{readyMs: number, least: number, most: number}>} the median */
export async function timeToReady(stage) {
  const { file } = await prepareSqlite(stage, 'start', { animals: ANIMALS, keys: 1 });
  const times = [];
  for (let start = 0; start < STARTS; start++) {
    const running = await startService(stage, `sqlite:${file}`);
    times.push(running.readyMs);
    await running.stop();
  }
  const [least, most] = [Math.min(...times), Math.max(...times)];
  console.log(`ready in ${median(times).toFixed(0)} ms (${least.toFixed(0)}-${most.toFixed(0)})`);
  return { readyMs: median(times), least, most };
}
