// Selects what the chart shows of the results: one panel per engine and kind of request.
import { ratioOf } from '../compare.mjs';
import { FASTIFY, FIELD, SERVICE } from '../field/field.mjs';
import { entryOf, goalsOf, requestsGoal } from './goals.mjs';

const ENGINES = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

/** @returns {object[]} the panels of `drawChart` */
export function panelsOf(results) {
  const goals = new Map(goalsOf(results).map(({ id, goal }) => [id, goal]));
  return Object.entries(ENGINES).flatMap(([engine, title]) =>
    (results[engine] ?? []).map((contest) => ({
      title: `${contest.work}, ${title}`,
      bars: barsOf(contest, (id) =>
        engine === 'sqlite' && id === SERVICE.id
          ? goals.get(requestsGoal(contest.work, FASTIFY.id))
          : undefined,
      ),
    })),
  );
}

function barsOf(contest, goalOf) {
  const fastify = entryOf(contest, FASTIFY.id);
  return FIELD.filter((each) => each !== FASTIFY && entryOf(contest, each.id)).map(
    ({ id, name }) => ({
      // Names are Markdown.
      name: name.replaceAll('`', ''),
      ...ratioOf(entryOf(contest, id).rounds, fastify.rounds),
      ours: id === SERVICE.id,
      goal: goalOf(id),
    }),
  );
}
