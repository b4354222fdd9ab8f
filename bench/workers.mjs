// One process against two workers on the two cores: what `petstore serve --workers` gains. The load generator needs
// some of the same cores, so what counts is the processor time of a request, of all processes: what the workers would
// reach where the load came from elsewhere follows from it.
import { copyFileSync } from 'node:fs';
import { median, ratioOf, runRounds } from './compare.mjs';
import { prepareSqlite, writeKeys } from './data.mjs';
import { startOurs } from './servers.mjs';
import { ANIMALS, BOTH_CORES } from './settings.mjs';

/** A worker gets half of the requests, and so takes twice as long until V8 has compiled what it runs. */
const WARM_UP_SECONDS = 3;

/**
 * @typedef {{perSecond: number, processorMicros: number, ownMicros: number}} Figure `ownMicros`: of the process that
 *   was started, which does the work or counts for its workers
 * @returns {Promise<{one: Figure, two: Figure, gain: {ratio: number, least: number, most: number}}>} medians; `gain`
 *   is how many times the requests of one process two cores would carry, by processor time
 */
export async function workers(stage, pace) {
  const { file, keys } = await prepareSqlite(stage, 'one', { animals: ANIMALS });
  const copy = stage.path('two.db');
  copyFileSync(file, copy);
  const keyFile = writeKeys(stage, 'keys-workers', keys);
  const servers = [];
  for (const { name, workers: count, path } of [
    { name: 'one', workers: 1, path: file },
    { name: 'two', workers: 2, path: copy },
  ]) {
    const options = { databaseUrl: `sqlite:${path}`, name, workers: count, core: BOTH_CORES };
    servers.push({ running: await startOurs(stage, options), keyFile, core: BOTH_CORES });
  }
  const figures = await runRounds(servers, 'list', { ...pace, warmUpSeconds: WARM_UP_SECONDS });
  for (const { running } of servers) await running.stop();
  const [one, two] = ['one', 'two'].map((name) => summaryOf(figures.get(name)));
  const { ratio, least, most } = ratioOf(
    figures.get('one').rounds,
    figures.get('two').rounds,
    ({ processorMicros }) => processorMicros,
  );
  const result = { one, two, gain: { ratio: 2 * ratio, least: 2 * least, most: 2 * most } };
  print(result);
  return result;
}

function summaryOf({ rounds, perSecond, processorMicros }) {
  return { perSecond, processorMicros, ownMicros: median(rounds.map((each) => each.ownMicros)) };
}

function print({ one, two, gain }) {
  const told = ({ perSecond, processorMicros }) =>
    `${Math.round(perSecond)}/s, ${processorMicros.toFixed(1)} µs of processor a request`;
  console.log(`one process: ${told(one)}`);
  console.log(`two workers: ${told(two)}, of which ${two.ownMicros.toFixed(1)} where they count`);
  console.log(`two cores, by processor time: ${gain.ratio.toFixed(2)} of one process`);
}
