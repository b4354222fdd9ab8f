// The goals of docs/performance.md.
import { ratioOf } from '../compare.mjs';
import { BUN, FASTIFY, GO, SERVICE, TUTORIAL, UNGUARDED } from '../field/field.mjs';

/**
 * @typedef {{id: string, reason: string, text: string, goal: number, atLeast: boolean, unit: string, digits: number,
 *   measured: number, least?: number, most?: number}} Goal `reason`: its section in notes.md
 */

/** Requests per second of the service, as a ratio to those of another program on SQLite. */
const TIMES_THE_REQUESTS = {
  [FASTIFY.id]: { list: 1.3, get: 0.85, create: 4 },
  [GO.id]: { list: 0.6, get: 0.6, create: 0.8 },
  [BUN.id]: { list: 0.8, get: 0.8, create: 0.8 },
  [TUTORIAL.id]: { list: 6, get: 6, create: 10 },
  [UNGUARDED.id]: { list: 0.85, get: 0.75 },
};
const TIMES_THE_P99_OF_GO = 1.5;
const FLAT = 1.4;
const FLAT_BY_KEYS = 2;

/** @returns {Goal[]} */
export function goalsOf({ sqlite = [], postgres = [], growth }) {
  return [
    ...sqlite.flatMap((contest) => contest.entries.flatMap(({ id }) => requests(contest, id))),
    ...sqlite.flatMap((contest) => latency(contest, 'sqlite')),
    ...postgres.flatMap((contest) => latency(contest, 'postgres')),
    ...(growth === undefined ? [] : ofGrowth(growth)),
  ];
}

export function isMet({ measured, goal, atLeast }) {
  return atLeast ? measured >= goal : measured <= goal;
}

export function entryOf({ entries }, id) {
  return entries.find((entry) => entry.id === id);
}

/** The id of the goal for the requests per second, as a ratio to those of a program. */
export const requestsGoal = (work, id) => `${work}-${id}`;
export const latencyGoal = (work, engine) => `p99-${work}-${engine}`;

/** Requests per second of the service, as a ratio to those of another program. */
export function timesTheRequests(contest, id) {
  return ratioOf(entryOf(contest, SERVICE.id).rounds, entryOf(contest, id).rounds);
}

function requests(contest, id) {
  const { work } = contest;
  const goal = TIMES_THE_REQUESTS[id]?.[work];
  if (goal === undefined) return [];
  const figure = ratio(timesTheRequests(contest, id));
  return [
    {
      id: requestsGoal(work, id),
      reason: id,
      text: `${work} on SQLite`,
      goal,
      atLeast: true,
      ...figure,
    },
  ];
}

function latency(contest, engine) {
  const [service, go] = [SERVICE, GO].map(({ id }) => entryOf(contest, id)?.open ?? []);
  if (service.length === 0 || go.length === 0) return [];
  const figure = ratio(ratioOf(service, go, ({ p99Ms }) => p99Ms));
  const id = latencyGoal(contest.work, engine);
  const text = `${contest.work} on ${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}`;
  return [{ ...atMost(id, text, TIMES_THE_P99_OF_GO, figure), reason: 'p99' }];
}

function ofGrowth({ start, costs, memory }) {
  const keys = memory.keys.toLocaleString('en');
  return [
    ...costs.map((cost) => {
      const goal = cost.id === 'keys' ? FLAT_BY_KEYS : FLAT;
      return atMost(`growth-${cost.id}`, `CPU time of ${cost.name}`, goal, ratio(cost));
    }),
    atMost('ready', 'start of `node` to the first response', 900, {
      ...plain(start.readyMs, 'ms'),
      least: start.least,
      most: start.most,
    }),
    atMost('idle', 'resident memory, idle', 110, plain(memory.idleMb, 'MB')),
    atMost('loaded', 'resident memory under load', 125, plain(memory.loadedMb, 'MB')),
    atMost('keys-memory', `memory for ${keys} more active keys`, 150, plain(memory.ownMb, 'MB')),
  ];
}

function atMost(id, text, goal, figure) {
  return { id, reason: id, text, goal, atLeast: false, ...figure };
}

function ratio({ ratio, least, most }) {
  return { measured: ratio, least, most, unit: '', digits: 2 };
}

function plain(measured, unit) {
  return { measured, unit, digits: 0 };
}
