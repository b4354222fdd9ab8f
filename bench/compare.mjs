// Compares servers: checks that their responses are equal, then loads them in turn, round after round.
import { load, loadAtRate } from './load.mjs';

/** Headers of a kept connection, which not every server sends. */
const OF_CONNECTION = ['connection', 'keep-alive'];
/** Headers whose value differs from request to request. */
const CHANGING = [
  ['x-request-id', 'date', 'ratelimit'],
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
].flat();

const REQUESTS = [
  ['/v1/pets?limit=20'],
  ['/v1/pets?limit=3&status=sold'],
  ['/v1/pets/7'],
  [
    '/v1/pets',
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"Rex","categoryId":7}',
    },
  ],
];

/**
 * Checks that two servers do the same work: equal status, headers and body.
 * @throws if a response differs
 */
export async function compareAnswers(one, other, key) {
  const [expected, actual] = [await answersOf(one, key), await answersOf(other, key)];
  for (const [index, answer] of actual.entries()) {
    if (answer !== expected[index])
      throw new Error(`${other.id} responds differently:\n${expected[index]}\n${answer}`);
  }
}

/** The responses to all requests, and the second page, to which the first has a link. */
async function answersOf({ running }, key) {
  const origin = `http://127.0.0.1:${running.port}`;
  const send = async (path, { headers, ...options } = {}) => {
    const authorization = `Bearer ${key}`;
    const response = await fetch(`${origin}${path}`, {
      ...options,
      headers: { authorization, ...headers },
    });
    return { link: response.headers.get('link'), text: await describe(response) };
  };
  const answers = [];
  for (const request of REQUESTS) answers.push(await send(...request));
  const [, second] = /<http:\/\/[^/]*(.*)>; rel="next"/.exec(answers[0].link);
  return [...answers, await send(second)].map(({ text }) => text);
}

async function describe(response) {
  const body = await response.text();
  const fields = [...response.headers]
    .filter(([name]) => !OF_CONNECTION.includes(name))
    .map(([name, value]) => (CHANGING.includes(name) ? name : `${name}: ${value}`))
    .sort();
  // Each server has cursors of its own, and each database assigns its own ids.
  const text = [response.status, ...fields, body].join('\n').replace(/cursor=[\w-]+/g, 'cursor');
  return response.status === 201 ? text.replaceAll(String(JSON.parse(body).id), 'ID') : text;
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
 * @param {{running: {name: string}}[]} servers
 * @param {string} work
 * @param {import('./settings.mjs').Pace} pace
 * @returns {Promise<Map<string, object[]>>} the figures of each round, by name
 */
export async function runRounds(servers, work, { rounds, warmUpSeconds, seconds }) {
  return inTurn(servers, rounds, async (server) => {
    // A server that was idle while others were loaded is cold.
    await load(server, { work, seconds: warmUpSeconds });
    return load(server, { work, seconds });
  });
}

/** The same at a constant rate of requests. */
export function runOpenRounds(
  servers,
  work,
  perSecond,
  { openRounds, warmUpSeconds, openSeconds },
) {
  const options = { work, perSecond, warmUpSeconds, seconds: openSeconds };
  return inTurn(servers, openRounds, (server) => loadAtRate(server, options));
}

async function inTurn(servers, rounds, measure) {
  const figures = new Map(servers.map(({ running }) => [running.name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const server of round % 2 === 0 ? servers : servers.toReversed())
      figures.get(server.running.name).push(await measure(server));
  }
  return figures;
}
