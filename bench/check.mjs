// `npm run bench -- --check`: compares this build with the published figures.
import { race } from './contests.mjs';
import { FASTIFY, SERVICE } from './field/field.mjs';
import { entryOf } from './page/goals.mjs';
import { readPublished } from './published.mjs';

const WORSE = 0.1;
const FIGURES = { 'requests a second': 'perSecond', 'processor time': 'processorMicros' };

/** @returns {Promise<string[]>} a line for each figure that is worse by more than 10 % */
export async function check(stage, pace) {
  const published = readPublished();
  const lines = [];
  for (const engine of ['sqlite', 'postgres']) {
    const contests = await race(stage, pace, engine, [SERVICE, FASTIFY]);
    lines.push(...worseThan(engine, published[engine]?.results ?? [], contests));
  }
  return lines;
}

/** Compares ratios to the Fastify program, which do not depend on the hour. For another machine, see `beside.mjs`. */
function worseThan(engine, published, contests) {
  return contests.flatMap((contest) => {
    const before = published.find(({ work }) => work === contest.work);
    if (before === undefined) return [];
    return Object.entries(FIGURES).flatMap(([name, figure]) => {
      const [was, is] = [before, contest].map((each) => timesFastify(each, figure));
      if (is >= was * (1 - WORSE)) return [];
      const lost = Math.round((1 - is / was) * 100);
      return `${contest.work} (${engine}), ${name}: ${is.toFixed(2)} times Fastify, ${lost} % less than ${was.toFixed(2)}`;
    });
  });
}

/** A higher ratio is better. */
function timesFastify(contest, figure) {
  const [service, fastify] = [SERVICE, FASTIFY].map(({ id }) => entryOf(contest, id)[figure]);
  return figure === 'perSecond' ? service / fastify : fastify / service;
}
