// Measures how the cost of a request and the memory of the server grow with the number of active keys.
import { setTimeout as pause } from 'node:timers/promises';
import { median, ratioOf } from '../compare.mjs';
import { prepareSqlite, writeKeys } from '../data.mjs';
import { startService } from '../field/field.mjs';
import { load } from '../load.mjs';
import { memoryMb } from '../process.mjs';
import { describe } from './pages.mjs';

const ANIMALS = 1_000;
const FEW = 10;
/** V8 gives back the memory of the start once the server has been idle for some 20 seconds. */
const UNTIL_IDLE_MS = 60_000;

/**
 * Loads two servers in turn: one with ten keys, one with many. Each request to the second uses another key. The rounds
 * begin when both are warm and every key has been used once.
 * @param {{many: number, rounds: number, seconds: number}} options
 * @returns {Promise<{cost: object, memory: object}>} `cost`: the ratio of the processor time; `memory` in MB: `idleMb` and
 *   `loadedMb` of the server with few keys, `ownMb` that the many `keys` of the other server need in addition
 */
export async function growthOfKeys(stage, { many, rounds, seconds }) {
  const few = await serve(stage, FEW);
  await pause(UNTIL_IDLE_MS);
  const idleMb = memoryMb(few.running.pid);
  const lots = await serve(stage, many);
  let seen = 0;
  const next = async () => {
    const figure = await load(lots, { work: 'get', seconds, firstKey: seen % many });
    seen += figure.requests;
    return figure;
  };
  await load(few, { work: 'get', seconds });
  while (seen < many) await next();
  const [figures, references, memories] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    references.push(await load(few, { work: 'get', seconds }));
    figures.push(await next());
    memories.push([few, lots].map(({ running }) => memoryMb(running.pid)));
  }
  for (const { running } of [few, lots]) await running.stop();

  const ratio = ratioOf(figures, references, ({ processorMicros }) => processorMicros);
  const cost = { id: 'keys', name: `get: ${many.toLocaleString('en')} to ${FEW} keys`, ...ratio };
  console.log(describe(cost));
  // The amount of garbage differs from round to round.
  const [loadedMb, allKeysMb] = [0, 1].map((server) =>
    median(memories.map((each) => each[server])),
  );
  const ownMb = allKeysMb - loadedMb;
  console.log(
    `resident memory: ${idleMb.toFixed(0)} MB idle, ${loadedMb.toFixed(0)} MB under load, ` +
      `${ownMb.toFixed(0)} MB more with ${many.toLocaleString('en')} keys`,
  );
  return { cost, memory: { idleMb, loadedMb, keys: many, ownMb } };
}

async function serve(stage, count) {
  const { file, keys } = await prepareSqlite(stage, `of-${count}-keys`, {
    animals: ANIMALS,
    keys: count,
  });
  const running = await startService(stage, `sqlite:${file}`);
  return { running, keyFile: writeKeys(stage, `${count}-keys`, keys), animals: ANIMALS };
}
