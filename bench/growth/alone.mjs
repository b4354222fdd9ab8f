// Measures the latency of one request at a time on one connection.
import { ratioOf } from '../compare.mjs';
import { prepareSqlite, writeKeys } from '../data.mjs';
import { startCeiling } from '../field/field.mjs';
import { load } from '../load.mjs';
import { startOurs } from '../servers.mjs';
import { ANIMALS } from '../settings.mjs';

/** The size of the response of a get. */
const BYTES = 60;
/** V8 optimises for the changed load: the first second is four times as slow. */
const SETTLING_SECONDS = 5;

/** @returns {Promise<object>} the median latency of a get, as a ratio to `node:http` with a constant response */
export async function alone(stage, { rounds, shortSeconds, warmUpSeconds }) {
  const { file, keys } = await prepareSqlite(stage, 'alone', { animals: ANIMALS });
  const keyFile = writeKeys(stage, 'keys-alone', keys);
  const ours = await startOurs(stage, { databaseUrl: `sqlite:${file}` });
  const ceiling = await startCeiling(stage, { keyFile, pageBytes: BYTES });
  const servers = [{ running: ours, keyFile }, ceiling];
  const one = (server, seconds) => load({ ...server, connections: 1 }, { work: 'get', seconds });
  const figures = servers.map(() => []);
  for (const server of servers) {
    await load(server, { work: 'get', seconds: warmUpSeconds });
    await one(server, SETTLING_SECONDS);
  }
  for (let round = 0; round < rounds; round++) {
    for (const [index, server] of servers.entries())
      figures[index].push(await one(server, shortSeconds));
  }
  for (const { running } of servers) await running.stop();
  const ratio = ratioOf(figures[0], figures[1], ({ p50Ms }) => p50Ms);
  console.log(`one at a time: ${ratio.ratio.toFixed(2)} times the median of node:http`);
  return ratio;
}
