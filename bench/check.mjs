// `npm run bench -- --check`: whether anything got slower since the figures that are published.
import { onPostgres, onSqlite } from './contests.mjs';
import { entryOf } from './page/goals.mjs';
import { readPublished } from './published.mjs';

const WORSE = 0.1;
const FIGURES = { 'requests a second': 'perSecond', 'processor time': 'processorMicros' };

/** @returns {Promise<string[]>} what is worse by more than a tenth, each in a line */
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

/** By the ratios to the floor, so that another hour makes no difference: see `beside.mjs` for another machine. */
export function worseThan(part, published, contests) {
  return contests.flatMap((contest) => {
    const before = published.find(({ work }) => work === contest.work);
    if (before === undefined) return [];
    return Object.entries(FIGURES).flatMap(([name, figure]) => {
      const [was, is] = [before, contest].map((each) => timesTheFloor(each, figure));
      if (is >= was * (1 - WORSE)) return [];
      const lost = Math.round((1 - is / was) * 100);
      return `${contest.work} (${part}), ${name}: ${is.toFixed(2)} of the floor, ${lost} % less than ${was.toFixed(2)}`;
    });
  });
}

/** More is better. */
function timesTheFloor(contest, figure) {
  const [ours, floor] = ['ours', 'floor'].map((name) => entryOf(contest, name)[figure]);
  return figure === 'perSecond' ? ours / floor : floor / ours;
}
