// What the figures have to reach.
import { ratioOf } from '../compare.mjs';

/** @typedef {{id: string, text: string, goal: number, atLeast: boolean, unit: string, digits: number,
 *   measured: number, least?: number, most?: number}} Goal */

const SINGLE = { list: 1.0, get: 0.85, create: 3.0 };
const TUTORIAL = 'tutorial Nest/Fastify';
const TIMES_THE_TUTORIAL = { list: 5, get: 10, create: 20 };
const FLAT = 1.3;
const TIMES_THE_FLOORS_P99 = 3;

/** @returns {Goal[]} */
export function goalsOf({ sqlite, postgres, redis, growth }) {
  const { limiter, start, costs, memory } = growth;
  const slowestHit = Math.max(...limiter.map(({ nanoseconds }) => nanoseconds));
  return [
    ...sqlite.map((contest) => toFloor(contest, '', SINGLE[contest.work])),
    toFloor(contestOf(postgres, 'list'), 'postgres-', 1.0, ' on PostgreSQL'),
    toFloor(contestOf(redis, 'list'), 'redis-', 0.95, ' on PostgreSQL + Redis'),
    ...sqlite.map(toTutorial),
    ...sqlite.map(tail),
    ...costs.map((cost) =>
      atMost(`growth-${cost.id}`, `the cost of ${cost.name}`, FLAT, times(cost)),
    ),
    atMost('limiter', 'the limiter alone, a hit at any limit', 1_000, plain(slowestHit, 'ns')),
    atMost('ready', 'ready after the start of `node`', 1_000, {
      ...plain(start.readyMs, 'ms'),
      least: start.least,
      most: start.most,
    }),
    atMost('idle', 'resident memory, idle', 130, plain(memory.idleMb, 'MB')),
    atMost('loaded', 'resident memory after a minute of load', 180, plain(memory.loadedMb, 'MB')),
    atMost(
      'keys-memory',
      `memory of its own for ${memory.keys.toLocaleString('en')} keys seen in a day`,
      200,
      plain(memory.ownMb, 'MB'),
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

export function contestOf(contests, work) {
  return contests.find((contest) => contest.work === work);
}

export function entryOf({ entries }, name) {
  return entries.find((entry) => entry.name === name);
}

function toFloor(contest, prefix, goal, where = '') {
  return {
    id: `${prefix}${contest.work}`,
    text: `${contest.work}${where}, to the floor`,
    goal,
    atLeast: true,
    ...times(entryOf(contest, 'ours').ratio),
  };
}

function toTutorial(contest) {
  const [ours, tutorial] = ['ours', TUTORIAL].map((name) => entryOf(contest, name));
  return {
    id: `tutorial-${contest.work}`,
    text: `${contest.work}, to ${TUTORIAL}`,
    goal: TIMES_THE_TUTORIAL[contest.work],
    atLeast: true,
    ...times(ratioOf(ours.rounds, tutorial.rounds)),
  };
}

function tail(contest) {
  const [ours, floor] = ['ours', 'floor'].map((name) => entryOf(contest, name));
  const ratio = ratioOf(ours.rounds, floor.rounds, ({ p99Ms }) => p99Ms);
  const text = `p99 of ${contest.work}, to the floor's own`;
  return atMost(`p99-${contest.work}`, text, TIMES_THE_FLOORS_P99, times(ratio));
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
