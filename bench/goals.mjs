// The goals of the project, for `--check`. Most are ratios: absolute figures depend on the machine.

/** Requests per second, as a ratio to a program; `keyed` to its plain creates. */
const RACE = {
  sqlite: {
    fastify: { list: 1.5, get: 1.5, create: 3.5, keyed: 2.3 },
    go: { list: 0.7, get: 0.8, create: 0.9 },
    tutorial: { list: 6, get: 6 },
  },
  postgres: { fastify: { list: 1.3, get: 1.8, create: 1.2 } },
};
/** Requests per second, as a ratio to the build of another commit. */
const BESIDE = { list: 0.8, get: 0.8, create: 0.8, keyed: 0.35 };
const TIMES_THE_P99_OF_GO = 2;
const P999_MS = { service: 10, 'two-cores': 5 };
/** CPU time per request as a ratio: with more pets, with a third node. */
const FLAT = 1.4;
const LESS_FLAT = { connections: 1.3, keys: 2 };

const atLeast = (text, measured, least) => ({ text, measured, limit: least, sign: '>=' });
const atMost = (text, measured, most) => ({ text, measured, limit: most, sign: '<=' });

/** @returns the goals of a part that was measured */
export function goalsOf(part, results) {
  if (part === 'latency') return results.flatMap(ofLatency);
  if (part === 'growth') return ofGrowth(results);
  if (part === 'nodes') return ofNodes(results);
  if (part === 'beside') {
    return results.map(({ work, ratio }) => atLeast(`${work}: requests/s`, ratio, BESIDE[work]));
  }
  return results.flatMap((contest) => ofContest(RACE[part], contest));
}

/** @returns {boolean} whether all are met; prints each */
export function areMet(goals) {
  const met = goals.map(({ text, measured, limit, sign }) => {
    const isMet = sign === '>=' ? measured >= limit : measured <= limit;
    const word = isMet ? 'met   ' : 'MISSED';
    console.log(`${word} ${text}: ${measured.toFixed(2)} (${sign} ${limit})`);
    return isMet;
  });
  return !met.includes(false);
}

function ofContest(limits, { work, entries }) {
  return Object.entries(limits).flatMap(([id, least]) => {
    const other = entries.find((entry) => entry.id === id);
    const ours = entries.filter((entry) => entry.id === 'service' || entry.id === 'keyed');
    return ours.flatMap((entry) => {
      const kind = entry.id === 'keyed' ? 'keyed' : work;
      if (other === undefined || least[kind] === undefined) return [];
      const ratio = entry.perSecond / other.perSecond;
      return [atLeast(`${kind}: requests/s to ${id}`, ratio, least[kind])];
    });
  });
}

function ofLatency({ engine, work, entries }) {
  const of = (name) => entries.find(({ id }) => id === name);
  const text = `${work} on ${engine}`;
  const toGo = of('service').p99 / (of('go')?.p99 ?? Infinity);
  const tails = Object.entries(P999_MS).filter(([id]) => of(id) !== undefined);
  return [
    atMost(`${text}: p99 to go`, toGo, TIMES_THE_P99_OF_GO),
    ...tails.map(([id, most]) => atMost(`${text}, ${id}: p99.9 in ms`, of(id).p999, most)),
  ];
}

function ofGrowth({ readyMs, costs, memory }) {
  return [
    ...costs.map(({ id, name, ratio }) =>
      atMost(`CPU time of ${name}`, ratio, LESS_FLAT[id] ?? FLAT),
    ),
    atMost('start in ms', readyMs, 1_200),
    atMost('idle memory in MB', memory.idleMb, 110),
    atMost(`memory of ${memory.keys} keys in MB`, memory.ownMb, 150),
  ];
}

function ofNodes(costs) {
  const [one, three] = [1, 3].map((number) => costs.filter(({ nodes }) => nodes === number));
  return one.map(({ work, node }, at) =>
    atMost(`CPU time of a ${work}: three nodes to one`, three[at].node / node, FLAT),
  );
}
