// Compares servers: checks that their responses are equal, then loads them in turn, round after round.
import { load } from './load.mjs';

/** Headers whose value differs from request to request. */
const CHANGING = [
  ['x-request-id', 'date', 'ratelimit'],
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
].flat();

/**
 * Checks that two servers do the same work: equal status, headers and body.
 * @param {string[]} unsaid headers that only one of them sends
 * @throws if a response differs
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
    if (a !== b) throw new Error(`${path}: the responses differ\n${a}\n${b}`);
  }
}

function describe({ status, headers }, body, method, unsaid) {
  const fields = [...headers]
    .filter(([name]) => !unsaid.includes(name))
    .map(([name, value]) => (CHANGING.includes(name) ? name : `${name}: ${value}`))
    .sort();
  const text = [status, ...fields, body].join('\n');
  // Each database assigns its own ids.
  return method === 'POST' ? text.replaceAll(String(JSON.parse(body).id), 'ID') : text;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @typedef {{ratio: number, least: number, most: number}} Ratio median, lowest and highest of the rounds */

/** Compares two series round by round. @returns {Ratio} */
export function ratioOf(figures, reference, of = ({ perSecond }) => perSecond) {
  const ratios = figures.map((figure, round) => of(figure) / of(reference[round]));
  return { ratio: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
}

/**
 * Loads the servers in turn, each after a warm-up. Every other round is in reverse order, so that no position is better.
 * @param {{running: {name: string}, seconds?: number}[]} servers `seconds`: replaces those of the pace
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
      // A server that was idle while others were loaded is cold.
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
