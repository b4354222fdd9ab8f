// Selects what the chart shows of the results: one panel per kind of request.
import { entryOf, goalsOf, NAMES } from './goals.mjs';

/** The other programs are compared on SQLite only. */
const ENGINES = { postgres: 'service, PostgreSQL', redis: 'service, PostgreSQL + Redis' };

/** @returns {object[]} the panels of `drawChart` */
export function panelsOf(results) {
  const goals = new Map(goalsOf(results).map(({ id, goal }) => [id, goal]));
  const works = ['sqlite', ...Object.keys(ENGINES)].flatMap((part) =>
    (results[part] ?? []).map(({ work }) => work),
  );
  return [...new Set(works)].map((work) => {
    const found = (part) => results[part]?.find((contest) => contest.work === work);
    const elsewhere = Object.entries(ENGINES).flatMap(([part, name]) => {
      const contest = found(part);
      if (contest === undefined) return [];
      const { ratio } = entryOf(contest, 'ours');
      return [{ name, ...ratio, ours: true, goal: goals.get(`${part}-${work}`) }];
    });
    const field = (found('sqlite')?.entries ?? [])
      // The ceiling would dwarf the other bars.
      .filter(({ name }) => name !== 'floor' && !name.startsWith('ceiling'))
      // Names are Markdown.
      .map(({ name, ratio }) => ({
        name: name.replaceAll('`', ''),
        ...ratio,
        ours: name === 'ours',
      }))
      .map((bar) => (bar.ours ? { ...bar, name: 'service, SQLite', goal: goals.get(work) } : bar))
      .sort((one, other) => Number(other.ours) - Number(one.ours) || other.ratio - one.ratio);
    return {
      title: NAMES[work] ?? work,
      bars: [
        ...field.filter(({ ours }) => ours),
        ...elsewhere,
        ...field.filter(({ ours }) => !ours),
      ],
    };
  });
}
