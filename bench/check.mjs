// `npm run bench -- --check`: compares this build with the published figures.
import { onPostgres, onSqlite } from './contests.mjs';
import { entryOf } from './page/goals.mjs';
import { readPublished } from './published.mjs';

const WORSE = 0.1;
const FIGURES = { 'requests a second': 'perSecond', 'processor time': 'processorMicros' };

/** @returns {Promise<string[]>} a line for each figure that is worse by more than 10 % */
export async function check(stage, pace) {
  const published = readPublished();
  const results = {
    sqlite: await onSqlite(stage, pace, []),
    ...(await onPostgres(stage, pace, ['postgres', 'redis'])),
  };
  return Object.entries(results).flatMap(([part, contests]) =>
    worseThan(part, published[part]?.results ?? [], contests),
  );
}

/** Compares ratios to the floor, which do not depend on the hour. For another machine, see `beside.mjs`. */
export function worseThan(part, published, contests) {
  return contests.flatMap((contest) => {
    const before = published.find(({ work }) => work === contest.work);
    if (before === undefined) return [];
    return Object.entries(FIGURES).flatMap(([name, figure]) => {
      const [was, is] = [before, contest].map((each) => timesTheFloor(each, figure));
      if (is >= was * (1 - WORSE)) return [];
      const lost = Math.round((1 - is / was) * 100);
      return `${contest.work} (${part}), ${name}: ${is.toFixed(2)} times the floor, ${lost} % less than ${was.toFixed(2)}`;
    });
  });
}

/** A higher ratio is better. */
function timesTheFloor(contest, figure) {
  const [ours, floor] = ['ours', 'floor'].map((name) => entryOf(contest, name)[figure]);
  return figure === 'perSecond' ? ours / floor : floor / ours;
}
