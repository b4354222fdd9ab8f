// What the figures have to reach.
import { ratioOf } from '../compare.mjs';
import { GO } from '../field/go.mjs';

/** @typedef {{id: string, text: string, goal: number, atLeast: boolean, unit: string, digits: number,
 *   measured: number, least?: number, most?: number}} Goal */

const SINGLE = { list: 1.3, get: 1.15, create: 4.0 };
const TIMES_GO = { list: 0.65, get: 0.8, create: 0.8 };
const ON_POSTGRES = { list: 1, get: undefined, create: 2 };
const WITH_REDIS = { list: 0.95, get: undefined, create: 1.5, keyed: 1.5 };
const TUTORIAL = 'tutorial Nest/Fastify';
const TIMES_THE_TUTORIAL = { list: 5, get: 10, create: 20 };
const FLAT = 1.4;
const TIMES_THE_FLOORS_P99 = 3;
/** Of the works whose names do not say it. */
export const NAMES = { keyed: 'create with Idempotency-Key, one in ten refused' };

/** @returns {Goal[]} */
export function goalsOf({ sqlite = [], postgres = [], redis = [], growth }) {
  return [
    ...sqlite.map((contest) => toFloor(contest, '', SINGLE[contest.work])),
    ...inEngine(postgres, 'postgres-', ON_POSTGRES, ' on PostgreSQL'),
    ...postgres
      .filter(({ work }) => work === 'create')
      .map((each) => tail(each, 'postgres-', ' on PostgreSQL')),
    ...inEngine(redis, 'redis-', WITH_REDIS, ' on PostgreSQL + Redis'),
    ...sqlite.flatMap((contest) => toGo(contest)),
    ...sqlite.flatMap((contest) => toTutorial(contest)),
    ...sqlite.map((contest) => tail(contest)),
    ...(growth === undefined ? [] : ofGrowth(growth)),
  ];
}

function ofGrowth({ limiter, start, alone, costs, memory }) {
  const slowestHit = Math.max(...limiter.map(({ nanoseconds }) => nanoseconds));
  return [
    ...costs.map((cost) =>
      atMost(`growth-${cost.id}`, `the cost of ${cost.name}`, FLAT, times(cost)),
    ),
    atMost('limiter', 'the limiter alone, a hit at any limit', 1_000, plain(slowestHit, 'ns')),
    atMost('ready', 'ready after the start of `node`, not the first', 900, {
      ...plain(start.readyMs, 'ms'),
      least: start.least,
      most: start.most,
    }),
    atMost('idle', 'resident memory, idle', 110, plain(memory.idleMb, 'MB')),
    atMost('loaded', 'resident memory under load', 125, plain(memory.loadedMb, 'MB')),
    atMost(
      'keys-memory',
      `memory of its own for ${memory.keys.toLocaleString('en')} keys seen in a day`,
      200,
      plain(memory.ownMb, 'MB'),
    ),
    atMost(
      'keys-written',
      `written to the disk a get, each another of ${memory.keys.toLocaleString('en')} keys'`,
      2,
      plain(memory.writtenKb, 'KB'),
    ),
    atMost(
      'alone',
      'one request at a time: median of a get, to `node:http` with a constant page',
      1.2,
      times(alone),
    ),
  ];
}

export function isMet({ measured, goal, atLeast }) {
  return atLeast ? measured >= goal : measured <= goal;
}

/** By how much of the goal it is missed: 0.1 is a tenth. */
export function shortfall({ measured, goal }) {
  return Math.abs(measured - goal) / goal;
}

export function entryOf({ entries }, name) {
  return entries.find((entry) => entry.name === name);
}

function toFloor(contest, prefix, goal, where = '') {
  return {
    id: `${prefix}${contest.work}`,
    text: `${NAMES[contest.work] ?? contest.work}${where}, to the floor`,
    goal,
    atLeast: true,
    ...times(entryOf(contest, 'ours').ratio),
  };
}

function inEngine(contests, prefix, goals, where) {
  return contests
    .filter(({ work }) => goals[work] !== undefined)
    .map((contest) => toFloor(contest, prefix, goals[contest.work], where));
}

function toTutorial(contest) {
  return toOther(contest, 'tutorial', TUTORIAL, TIMES_THE_TUTORIAL);
}

function toGo(contest) {
  return toOther(contest, 'go', GO, TIMES_GO);
}

/** None where the other one did not take part. */
function toOther(contest, id, name, goals) {
  const [ours, other] = ['ours', name].map((each) => entryOf(contest, each));
  if (other === undefined) return [];
  return [
    {
      id: `${id}-${contest.work}`,
      text: `${contest.work}, to ${name}`,
      goal: goals[contest.work],
      atLeast: true,
      ...times(ratioOf(ours.rounds, other.rounds)),
    },
  ];
}

function tail(contest, prefix = '', where = '') {
  const [ours, floor] = ['ours', 'floor'].map((name) => entryOf(contest, name));
  const ratio = ratioOf(ours.rounds, floor.rounds, ({ p99Ms }) => p99Ms);
  const text = `p99 of ${contest.work}${where}, to the floor's own`;
  return atMost(`p99-${prefix}${contest.work}`, text, TIMES_THE_FLOORS_P99, times(ratio));
}

function atMost(id, text, goal, figure) {
  return { id, text, goal, atLeast: false, ...figure };
}

function times({ ratio, least, most }) {
  return { measured: ratio, least, most, unit: '', digits: 2 };
}

function plain(measured, unit) {
  return { measured, unit, digits: 0 };
}
