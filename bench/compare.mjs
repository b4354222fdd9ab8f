// Side by side: the same answers first, then round after round, each server in turn.
import { load } from './load.mjs';

/** What differs from request to request, by its nature. */
const CHANGING = [
  ['x-request-id', 'date', 'ratelimit'],
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
].flat();

/**
 * Both programs have to do the same job: equal bodies, equal headers.
 * @param {string[]} unsaid headers that only one of them sends
 * @throws where an answer differs
 */
export async function compareAnswers(one, other, key, unsaid = []) {
  const json = { 'content-type': 'application/json' };
  const requests = [
    ['/v1/pets?limit=20'],
    [`/v1/pets?limit=20&cursor=${Buffer.from(':80').toString('base64url')}`],
    ['/v1/pets?limit=3&status=sold'],
    ['/v1/pets/7'],
    ['/v1/pets', { method: 'POST', headers: json, body: '{"name":"Rex","categoryId":7}' }],
  ];
  for (const [path, { headers, ...options } = {}] of requests) {
    const [a, b] = await Promise.all(
      [one, other].map(async ({ running }) => {
        const authorization = `Bearer ${key}`;
        const response = await fetch(`http://127.0.0.1:${running.port}${path}`, {
          ...options,
          headers: { authorization, ...headers },
        });
        return describe(response, await response.text(), options.method, unsaid);
      }),
    );
    if (a !== b) throw new Error(`${path}: the answers differ\n${a}\n${b}`);
  }
}

function describe({ status, headers }, body, method, unsaid) {
  const fields = [...headers]
    .filter(([name]) => !unsaid.includes(name))
    .map(([name, value]) => (CHANGING.includes(name) ? name : `${name}: ${value}`))
    .sort();
  const text = [status, ...fields, body].join('\n');
  // Each database numbers its own animals.
  return method === 'POST' ? text.replaceAll(String(JSON.parse(body).id), 'ID') : text;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @typedef {{ratio: number, least: number, most: number}} Ratio a median, and what it is the median of */

/** Of two series of the same rounds. @returns {Ratio} */
export function ratioOf(figures, reference, of = ({ perSecond }) => perSecond) {
  const ratios = figures.map((figure, round) => of(figure) / of(reference[round]));
  return { ratio: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
}

/**
 * Loads the servers in turn, each warmed up anew, every other round from the last to the first, so that none has a
 * better place.
 * @param {{running: {name: string}, seconds?: number}[]} servers `seconds`: for a shorter turn than the pace's
 * @param {string} work
 * @param {import('./settings.mjs').Pace} pace
 * @returns {Promise<Map<string, {rounds: object[], perSecond: number, p99Ms: number, processorMicros: number}>>}
 *   by name; the figures are medians
 */
export async function runRounds(servers, work, pace) {
  const rounds = new Map(servers.map(({ running }) => [running.name, []]));
  for (let round = 0; round < pace.rounds; round++) {
    for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
      const { seconds = pace.seconds } = server;
      // Whoever stood idle while the others had their turns is cold: machines take memory from who does not use it.
      await load(server, { work, seconds: pace.warmUpSeconds });
      rounds.get(server.running.name).push(await load(server, { work, seconds }));
    }
  }
  const summary = new Map();
  for (const [name, figures] of rounds) {
    const of = (member) => median(figures.map((figure) => figure[member]));
    const [perSecond, p99Ms] = [of('perSecond'), of('p99Ms')];
    summary.set(name, {
      rounds: figures,
      perSecond,
      p99Ms,
      processorMicros: of('processorMicros'),
    });
  }
  return summary;
}
