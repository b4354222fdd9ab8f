// What must not grow with the number of keys: the cost of a request. What may grow, within bounds: memory.
import { setTimeout as pause } from 'node:timers/promises';
import { median, ratioOf } from '../compare.mjs';
import { prepareSqlite, writeKeys } from '../data.mjs';
import { load } from '../load.mjs';
import { memoryMb } from '../process.mjs';
import { startOurs } from '../servers.mjs';
import { describe } from './pages.mjs';

const ANIMALS = 1_000;
const FEW = 10;
/** What a start leaves behind is collected once nobody has asked for a second. */
const UNTIL_IDLE_MS = 5_000;

/**
 * Two servers under the same load, in turn, for a minute each: one has ten callers, at the other every
 * request is another's. It goes on until all keys were seen, and then once more, each seen before.
 * @param {{many: number, rounds: number, seconds: number}} options
 * @returns {Promise<{costs: object[], memory: object}>} in MB: `idleMb` and `loadedMb`, resident, of the
 *   server with few keys, the latter of the rounds after all keys were seen; `ownMb` is what the `keys` of the other
 *   cost it besides, and `writtenKb` what a request of the other had written
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
  const inTurn = async () => {
    const [figures, references, memories] = [[], [], []];
    for (let round = 0; round < rounds; round++) {
      references.push(await load(few, { work: 'get', seconds }));
      figures.push(await next());
      memories.push([few, lots].map(({ running }) => memoryMb(running.pid)));
    }
    return { figures, references, memories };
  };
  const first = await inTurn();
  while (seen < many) await next();
  const again = await inTurn();
  for (const { running } of [few, lots]) await running.stop();

  const name = `get: ${many.toLocaleString('en')} to ${FEW} keys`;
  const costs = [
    { id: 'keys', name: `${name}, each for the first time`, ...processorTime(first) },
    { id: 'keys-again', name: `${name}, each seen before`, ...processorTime(again) },
  ];
  for (const cost of costs) console.log(describe(cost));
  // After one load there is more garbage than after another.
  const [loadedMb, allKeysMb] = [0, 1].map((server) =>
    median(again.memories.map((memories) => memories[server])),
  );
  const ownMb = allKeysMb - loadedMb;
  console.log(
    `resident: ${idleMb.toFixed(0)} MB idle, ${loadedMb.toFixed(0)} MB after ${rounds * seconds} s of ` +
      `load and more; ${many.toLocaleString('en')} keys: ${ownMb.toFixed(0)} MB more`,
  );
  const writtenKb = median(first.figures.map(({ writtenBytes }) => writtenBytes)) / 1024;
  console.log(`${writtenKb.toFixed(1)} KB written to the disk a request`);
  return { costs, memory: { writtenKb, idleMb, loadedMb, keys: many, ownMb } };
}

function processorTime({ figures, references }) {
  return ratioOf(figures, references, ({ processorMicros }) => processorMicros);
}

async function serve(stage, count) {
  const { file, keys } = await prepareSqlite(stage, `of-${count}-keys`, {
    animals: ANIMALS,
    keys: count,
  });
  const running = await startOurs(stage, { databaseUrl: `sqlite:${file}` });
  return { running, keyFile: writeKeys(stage, `${count}-keys`, keys), animals: ANIMALS };
}
