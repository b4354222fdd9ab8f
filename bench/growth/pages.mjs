// Measures whether the cost of a request grows with the table, the page number or the connections.
import { ratioOf } from '../compare.mjs';
import { prepareSqlite, writeKeys } from '../data.mjs';
import { startService } from '../field/field.mjs';
import { load, PATHS } from '../load.mjs';
import { CONNECTIONS, KEYS } from '../settings.mjs';

const PAGE_NUMBER = 5_000;
const PAGE = 20;
const MANY_CONNECTIONS = 1_000;

/**
 * @param {{small: number, large: number}} sizes numbers of animals
 * @returns {Promise<object[]>} `id`, `name` and the ratio of the processor time
 */
export async function growthOfPages(stage, pace, { small, large }) {
  const [few, many] = [await serve(stage, small), await serve(stage, large)];
  const after = Math.min(PAGE_NUMBER - 1, large / PAGE - 2) * PAGE;
  const cursor = await cursorAfter(after, many);
  const deep = { ...many, paths: { ...PATHS, list: `${PATHS.list}&cursor=${cursor}` } };
  const count = (number) => number.toLocaleString('en');
  const cases = [
    ['animals-list', `list: ${count(large)} to ${count(small)} animals`, 'list', many, few],
    ['page', `list of ${count(large)} animals: page 5,000 to page 1`, 'list', deep, many],
    ['animals-get', `get: ${count(large)} to ${count(small)} animals`, 'get', many, few],
    [
      'connections',
      `get: ${count(MANY_CONNECTIONS)} to ${CONNECTIONS} connections`,
      'get',
      { ...few, connections: MANY_CONNECTIONS },
      few,
    ],
  ];
  const results = [];
  for (const [id, name, work, server, reference] of cases) {
    results.push({ id, name, ...(await timesTheCost(server, reference, work, pace)) });
    console.log(describe(results.at(-1)));
  }
  for (const { running } of [few, many]) await running.stop();
  return results;
}

/** The processor time per request, as a ratio to that of `reference`. */
async function timesTheCost(server, reference, work, { rounds, seconds, warmUpSeconds }) {
  const [figures, references] = [[], []];
  for (const each of [server, reference]) await load(each, { work, seconds: warmUpSeconds });
  for (let round = 0; round < rounds; round++) {
    figures.push(await load(server, { work, seconds }));
    references.push(await load(reference, { work, seconds }));
  }
  return ratioOf(figures, references, ({ processorMicros }) => processorMicros);
}

export function describe({ name, ratio, least, most }) {
  const [median, from, to] = [ratio, least, most].map((each) => each.toFixed(2));
  return `${name}: ${median} times the cost (${from}-${to})`;
}

/** A cursor of the server has a digest of the filter and the last id of the page before. */
async function cursorAfter(id, { running, key }) {
  const url = `http://127.0.0.1:${running.port}${PATHS.list}`;
  const { headers } = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  const [, cursor] = /cursor=([\w-]+)/.exec(headers.get('link'));
  const [filter] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  return Buffer.from(JSON.stringify([filter, String(id)])).toString('base64url');
}

async function serve(stage, animals) {
  const { file, keys } = await prepareSqlite(stage, `animals-${animals}`, { animals, keys: KEYS });
  const keyFile = writeKeys(stage, `keys-${animals}`, keys);
  const running = await startService(stage, `sqlite:${file}`);
  return { running, keyFile, key: keys[0], animals };
}
