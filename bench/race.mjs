// Parts `sqlite` and `postgres`: every program of the field with 64 connections, each of which
// sends its next request after the response to the previous one. The programs take turns.
import { copyFileSync } from 'node:fs';
import { assertEqualResponses } from './field/equal.mjs';
import { preparePostgres, prepareSqlite } from './lib/data.mjs';
import { startPostgres } from './lib/engines.mjs';
import { load } from './lib/load.mjs';
import { COMPILED_AFTER_S } from './settings.mjs';

/**
 * @typedef {{id: string, rounds: import('./lib/load.mjs').Figure[], perSecond: number,
 *   cpuMicros: number}} Entry with its best round
 * @typedef {{work: string, entries: Entry[]}} Contest
 */

/**
 * @param {'sqlite' | 'postgres'} engine
 * @param {import('./field/field.mjs').Contestant[]} field the service first
 * @returns {Promise<Contest[]>}
 */
export async function race(stage, pace, engine, field) {
  const servers = await startField(stage, engine, field);
  const contests = [];
  for (const work of ['list', 'get', 'create']) {
    const runners = servers
      .filter(({ works = [work] }) => works.includes(work))
      .map((server) => ({ id: server.id, server, work }));
    // Compared with the plain creates of the others, which have no idempotency.
    if (work === 'create') runners.push({ id: 'keyed', server: servers[0], work: 'keyed' });
    const entries = await runRounds(stage, runners, pace);
    contests.push({ work, entries });
    console.log(`${work} on ${engine}`);
    console.table(entries, ['id', 'perSecond', 'cpuMicros']);
  }
  for (const { running } of servers) await running.stop();
  return contests;
}

async function startField(stage, engine, field) {
  const { keys, keyFile, contestants } = await prepareField(stage, engine, field);
  const servers = [];
  for (const { start, isEqual, ...contestant } of contestants) {
    const running = await start();
    if (isEqual) await assertEqualResponses(servers[0].running, running, keys[0]);
    servers.push({ ...contestant, running, keyFile });
  }
  return servers;
}

/** Each program gets a database of its own, with equal content. */
export async function prepareField(stage, engine, field) {
  const able = field.filter((each) => (each.engine ?? engine) === engine);
  const ids = able.map(({ id }) => id);
  const { urls, ...prepared } = await databases(stage, engine, ids);
  const contestants = able.map((each, index) => {
    return { ...each, start: () => each.start(stage, urls[index]) };
  });
  return { ...prepared, contestants };
}

async function databases(stage, engine, ids) {
  if (engine === 'postgres') return preparePostgres(stage, (await startPostgres(stage)).url, ids);
  const prepared = await prepareSqlite(stage, `pets-${ids.length}`);
  const urls = ids.map((id) => {
    const copy = stage.path(`${id}.db`);
    copyFileSync(prepared.file, copy);
    return `sqlite:${copy}`;
  });
  return { ...prepared, urls };
}

/**
 * Loads the servers in turn. Every other round is in reverse order, so that no position is better.
 * @param {{id: string, server: import('./lib/load.mjs').Server, work: string}[]} runners
 * @returns {Promise<Entry[]>} in the order of the runners
 */
export async function runRounds(stage, runners, { rounds, seconds }) {
  const figures = new Map(runners.map(({ id }) => [id, []]));
  for (let round = 0; round < rounds; round++) {
    for (const runner of round % 2 === 0 ? runners : runners.toReversed()) {
      const { id, server, work } = runner;
      if (round === 0) await load(stage, server, { work, seconds: COMPILED_AFTER_S });
      figures.get(id).push(await load(stage, server, { work, seconds }));
    }
  }
  return Array.from(figures, ([id, measured]) => ({ id, ...bestOf(measured) }));
}

/**
 * Other guests of the host slow this machine for seconds, by up to three times, which `/proc/stat`
 * does not show. They never make it faster, so the best round is the program's own.
 * @param {import('./lib/load.mjs').Figure[]} rounds
 */
export function bestOf(rounds) {
  const of = (member) => rounds.map((figure) => figure[member]);
  const perSecond = Math.max(...of('perSecond'));
  return { rounds, perSecond, cpuMicros: Math.min(...of('cpuMicros')) };
}
