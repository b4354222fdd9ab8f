// Runs the comparisons: all programs on SQLite; the service and the floor program on PostgreSQL and Redis.
import { copyFileSync } from 'node:fs';
import { compareAnswers, ratioOf, runRounds } from './compare.mjs';
import { preparePostgres, prepareSqlite, writeKeys } from './data.mjs';
import { startPostgres, startRedis } from './engines.mjs';
import { startFloor, startOurs } from './servers.mjs';
import { ANIMALS, PAGE } from './settings.mjs';

const WORKS = ['list', 'get', 'create'];
/** `keyed`: creates with an Idempotency-Key, of which one in ten is refused. The floor program ignores these keys. */
const WORKS_WITH_REDIS = [...WORKS, 'keyed'];

/**
 * @typedef {{name: string, perSecond: number, p99Ms: number, processorMicros: number, ratio: object}} Entry
 *   `ratio` to the floor; see compare.mjs
 * @typedef {{work: string, entries: Entry[]}} Contest
 */

/** @param {object[]} field of `field/field.mjs` @returns {Promise<Contest[]>} */
export async function onSqlite(stage, pace, field) {
  const { file, keys } = await prepareSqlite(stage, 'animals', { animals: ANIMALS });
  const urls = ['ours', 'floor'].map((name) => {
    const copy = stage.path(`${name}.db`);
    copyFileSync(file, copy);
    return `sqlite:${copy}`;
  });
  const keyFile = writeKeys(stage, 'keys', keys);
  const pair = await startPair(stage, keyFile, keys[0], urls);
  const others = [];
  const pageSize = await pageBytes(pair[0], keys[0]);
  const context = { file, keyFile, pageBytes: pageSize, key: keys[0], floor: pair[1] };
  for (const { start, works } of field) {
    const server = await start(stage, context);
    others.push({ works, server: { ...server, seconds: pace.shortSeconds } });
  }
  const contestants = (work) => [
    ...pair,
    ...others.filter(({ works }) => works.includes(work)).map(({ server }) => server),
  ];
  const results = await contest(contestants, pace);
  for (const { running } of [...pair, ...others.map(({ server }) => server)]) await running.stop();
  return results;
}

/** On PostgreSQL, without and with Redis. @returns {Promise<{postgres?: Contest[], redis?: Contest[]}>} */
export async function onPostgres(stage, pace, parts) {
  const server = await startPostgres(stage);
  const databases = ['ours', 'floor'];
  const { urls, keys } = await preparePostgres(stage, server, { animals: ANIMALS, databases });
  const keyFile = writeKeys(stage, 'keys-postgres', keys);
  const results = {};
  for (const part of parts) {
    const redisUrl = part === 'redis' ? await startRedis(stage) : undefined;
    const pair = await startPair(stage, keyFile, keys[0], urls, redisUrl);
    console.log(part === 'redis' ? 'PostgreSQL + Redis' : 'PostgreSQL');
    const works = part === 'redis' ? WORKS_WITH_REDIS : WORKS;
    results[part] = await contest(() => pair, { ...pace, seconds: pace.shortSeconds }, works);
    for (const { running } of pair) await running.stop();
  }
  return results;
}

/** Starts the service and the floor program, and checks that their responses are equal. */
async function startPair(stage, keyFile, key, [oursUrl, floorUrl], redisUrl) {
  const floor = { running: await startFloor(stage, { databaseUrl: floorUrl, redisUrl }), keyFile };
  const publicPort = floor.running.port;
  const options = { databaseUrl: oursUrl, redisUrl, publicPort };
  const ours = { running: await startOurs(stage, options), keyFile };
  await compareAnswers(ours, floor, key);
  return [ours, floor];
}

/** @param {(work: string) => object[]} contestants the service first, then the floor program */
async function contest(contestants, pace, works = WORKS) {
  const results = [];
  for (const work of works) {
    const figures = await runRounds(contestants(work), work, pace);
    const floor = figures.get('floor');
    const entries = [...figures].map(([name, figure]) => ({
      ...figure,
      name,
      ratio: ratioOf(figure.rounds, floor.rounds),
    }));
    for (const entry of entries) print(work, entry);
    results.push({ work, entries });
  }
  return results;
}

function print(work, { name, perSecond, p99Ms, processorMicros, ratio }) {
  const [median, least, most] = [ratio.ratio, ratio.least, ratio.most].map((each) =>
    each.toFixed(2),
  );
  console.log(
    `${work.padEnd(6)} ${name.padEnd(21)} ${median.padStart(6)} times the floor (${least}-${most}); ` +
      `${Math.round(perSecond)}/s, p99 ${p99Ms.toFixed(1)} ms, ${processorMicros.toFixed(1)} µs of processor time per request`,
  );
}

async function pageBytes({ running }, key) {
  const headers = { authorization: `Bearer ${key}` };
  const url = `http://127.0.0.1:${running.port}/v1/pets?limit=${PAGE}`;
  return (await (await fetch(url, { headers })).arrayBuffer()).byteLength;
}
