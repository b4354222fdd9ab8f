// What of a run's results the chart shows.
import { entryOf, goalsOf } from './goals.mjs';

/** @returns {object[]} what `drawChart` takes */
export function panelsOf(results) {
  const goals = new Map(goalsOf(results).map(({ id, goal }) => [id, goal]));
  const bar = ({ name, ratio }, goal) => ({ name, ...ratio, ours: name === 'ours', goal });
  const works = results.sqlite.map(({ work, entries }) => ({
    title: `${work} on SQLite`,
    bars: entries
      // The ceiling would dwarf the rest; the tables have it.
      .filter(({ name }) => name !== 'floor' && !name.startsWith('ceiling'))
      .map((entry) => bar(entry, entry.name === 'ours' ? goals.get(work) : undefined))
      .sort((one, other) => Number(other.ours) - Number(one.ours) || other.ratio - one.ratio),
  }));
  const engine = (title, contests, prefix) => ({
    title,
    bars: contests.map((contest) => ({
      ...bar(entryOf(contest, 'ours'), goals.get(`${prefix}${contest.work}`)),
      name: contest.work,
    })),
  });
  return [
    ...works,
    engine('ours on PostgreSQL', results.postgres, 'postgres-'),
    engine('ours on PostgreSQL + Redis', results.redis, 'redis-'),
  ];
}
