// The race: every program of the field on SQLite and on PostgreSQL, in turn.
import { copyFileSync } from 'node:fs';
import { compareAnswers, median, runOpenRounds, runRounds } from './compare.mjs';
import { preparePostgres, prepareSqlite, writeKeys } from './data.mjs';
import { startPostgres } from './engines.mjs';
import { UNGUARDED } from './field/field.mjs';
import { ANIMALS } from './settings.mjs';

const WORKS = ['list', 'get', 'create'];

/**
 * @typedef {{id: string, rounds: object[], open: object[], perSecond: number, processorMicros: number, p50Ms?: number,
 *   p99Ms?: number}} Entry medians of the rounds; the latencies are those of the open loop
 * @typedef {{work: string, openPerSecond?: number, entries: Entry[]}} Contest
 */

/**
 * @param {'sqlite' | 'postgres'} engine
 * @param {import('./field/field.mjs').Contestant[]} field the service first
 * @returns {Promise<Contest[]>}
 */
export async function race(stage, pace, engine, field) {
  console.log(engine);
  const { urls, keys } = await prepare(stage, engine, field);
  const keyFile = writeKeys(stage, `keys-${engine}`, keys);
  const servers = [];
  for (const [index, { id, start, isEqual }] of field.entries()) {
    const server = { id, running: await start(stage, urls[index]), keyFile };
    if (isEqual) await compareAnswers(servers[0], server, keys[0]);
    servers.push(server);
  }
  const results = [];
  for (const work of WORKS) results.push(await contest(servers, work, pace));
  for (const { running } of servers) await running.stop();
  return results;
}

/** A database for each program, with equal content. */
async function prepare(stage, engine, field) {
  const ids = field.map(({ id }) => id);
  if (engine === 'postgres') {
    const server = await startPostgres(stage);
    return preparePostgres(stage, server, { animals: ANIMALS, databases: ids });
  }
  const { file, keys } = await prepareSqlite(stage, 'animals', { animals: ANIMALS });
  const urls = ids.map((id) => {
    const copy = stage.path(`${id}.db`);
    copyFileSync(file, copy);
    return `sqlite:${copy}`;
  });
  return { urls, keys };
}

async function contest(servers, work, pace) {
  const rounds = await runRounds(servers, work, pace);
  const entries = servers.map(({ id }) => {
    const of = (member) => median(rounds.get(id).map((figure) => figure[member]));
    const [perSecond, processorMicros] = [of('perSecond'), of('processorMicros')];
    return { id, rounds: rounds.get(id), open: [], perSecond, processorMicros };
  });
  const result = { work, entries };
  if (pace.openRounds > 0) await addLatencies(result, servers, pace);
  for (const entry of entries) print(work, entry, entries[0]);
  return result;
}

/** At half of what the slowest program can process, so that none has a queue. */
async function addLatencies(result, servers, pace) {
  const { work, entries } = result;
  result.openPerSecond = Math.floor(Math.min(...entries.map(({ perSecond }) => perSecond)) / 2);
  const racing = servers.filter(({ id }) => id !== UNGUARDED.id);
  const rounds = await runOpenRounds(racing, work, result.openPerSecond, pace);
  for (const entry of entries.filter(({ id }) => rounds.has(id))) {
    entry.open = rounds.get(entry.id);
    entry.p50Ms = median(entry.open.map(({ p50Ms }) => p50Ms));
    entry.p99Ms = median(entry.open.map(({ p99Ms }) => p99Ms));
  }
}

function print(work, { id, perSecond, processorMicros, p50Ms, p99Ms }, service) {
  const latency =
    p50Ms === undefined
      ? ''
      : `; open loop: p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;
  console.log(
    `${work.padEnd(6)} ${id.padEnd(9)} ${String(Math.round(perSecond)).padStart(6)}/s, ` +
      `${processorMicros.toFixed(1)} µs a request; the service is ` +
      `${(service.perSecond / perSecond).toFixed(2)} times as fast${latency}`,
  );
}
