// The goals of docs/performance.md.
import { ratioOf } from '../compare.mjs';
import { GO } from '../field/go.mjs';

/** @typedef {{id: string, text: string, goal: number, atLeast: boolean, unit: string, digits: number,
 *   measured: number, least?: number, most?: number}} Goal */

const ON_SQLITE = { list: 1.3, get: 0.85, create: 4 };
const TIMES_GO = { list: 0.6, get: 0.6, create: 0.8 };
const ON_POSTGRES = { list: 1, get: undefined, create: 2 };
const WITH_REDIS = { list: 0.95, get: undefined, create: 1.5, keyed: 1.5 };
const TUTORIAL = 'tutorial Nest/Fastify';
const TIMES_THE_TUTORIAL = { list: 6, get: 6, create: 10 };
const FLAT = 1.4;
const FLAT_BY_KEYS = 2;
const TIMES_THE_FLOORS_P99 = 3;
/** Names of the works that need an explanation. */
export const NAMES = { keyed: 'create with Idempotency-Key, one in ten refused' };

/** @returns {Goal[]} */
export function goalsOf({ sqlite = [], postgres = [], redis = [], growth }) {
  return [
    ...sqlite.map((contest) => toFloor(contest, '', ON_SQLITE[contest.work])),
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
      atMost(
        `growth-${cost.id}`,
        `processor time of ${cost.name}`,
        cost.id === 'keys' ? FLAT_BY_KEYS : FLAT,
        times(cost),
      ),
    ),
    atMost('limiter', 'the rate limiter alone, per request', 1_000, plain(slowestHit, 'ns')),
    atMost('ready', 'start of `node` to the first response', 900, {
      ...plain(start.readyMs, 'ms'),
      least: start.least,
      most: start.most,
    }),
    atMost('idle', 'resident memory, idle', 110, plain(memory.idleMb, 'MB')),
    atMost('loaded', 'resident memory under load', 125, plain(memory.loadedMb, 'MB')),
    ...keysMemory(memory),
    atMost(
      'alone',
      'median latency of a get, one request at a time, to `node:http` with a constant response',
      1.2,
      times(alone),
    ),
  ];
}

/** Earlier figures are without it. */
function keysMemory({ keys, ownMb }) {
  if (ownMb === undefined) return [];
  const text = `additional memory for ${keys.toLocaleString('en')} active keys`;
  return [atMost('keys-memory', text, 150, plain(ownMb, 'MB'))];
}

export function isMet({ measured, goal, atLeast }) {
  return atLeast ? measured >= goal : measured <= goal;
}

/** The share of the goal by which it is missed. */
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

/** Empty if the other program did not take part. */
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
  const text = `p99 of ${contest.work}${where}, to the p99 of the floor`;
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
