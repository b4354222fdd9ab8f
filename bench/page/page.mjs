// Writes docs/performance.md from the published figures.
import { FIELD, GO, SERVICE, UNGUARDED } from '../field/field.mjs';
import { ANIMALS, CONNECTIONS, KEYS, OTHER_CORE, PAGE, SERVER_CORE } from '../settings.mjs';
import { goalsOf, isMet, latencyGoal, requestsGoal, timesTheRequests } from './goals.mjs';

const ENGINES = { sqlite: 'SQLite', postgres: 'PostgreSQL' };
const TITLES = { ...ENGINES, growth: 'growth, start and memory' };
const NAMES = new Map([...FIELD, UNGUARDED].map(({ id, name }) => [id, name]));
/** Programs whose versions matter only if PostgreSQL was measured. */
const ONLY_ON_POSTGRES = new Set(['pg', 'PostgreSQL']);
/** How a miss is introduced, by the reason of its goal. */
const TOPICS = new Map([
  ...[...FIELD, UNGUARDED].map(({ id, name }) => [id, `requests/s, to ${name}`]),
  ['p99', `p99, to ${GO.name}`],
]);

/**
 * @param {{parts: Record<string, object>, versions: Record<string, string>,
 *   notes: Map<string, string>}} published see `published.mjs`
 */
export function writePage({ parts, versions, notes }) {
  const results = Object.fromEntries(
    Object.entries(parts).map(([part, each]) => [part, each.results]),
  );
  const goals = goalsOf(results);
  const { postgres, growth } = parts;
  return `# Performance

How fast the service is, compared on the same machine with programs that do the core of the same work.
\`npm run bench\` runs the measurements and writes this page (\`npm run bench -- --help\` lists shorter runs);
[performance.json](performance.json) has every figure.

The programs are in [bench/field](../bench/field): hand-written Fastify, Go with \`net/http\`, Bun with Elysia, and Nest written as
its guides teach. Each of them looks a key up by its digest, counts its requests per minute and per day, sends the rate-limit
headers, writes an access line and a latency histogram, and answers a create once it is durable. The
[last section](#what-the-other-programs-lack) lists what they lack. The service without key, quota, log and metrics shows what
these cost.

A *list* is a page of ${PAGE} pets, a *get* one pet, a *create* a durable insert. Only the ratios are meaningful: the figures
depend on the machine and the hour.

![Requests per second, as a ratio to the hand-written Fastify program](performance.svg)

## Results

- **requests/s**: with ${CONNECTIONS} connections; each sends its next request after the response to the previous one.
- **CPU**: CPU time of the server per request, user and kernel${postgres ? ', without PostgreSQL' : ''}.
- **p50 / p99**: latency at a constant arrival rate, half of what the slowest program can process.
- **service / program**: requests/s of the service divided by those of the program, and for Go also the ratio of the p99. Median of
  all rounds, in parentheses the lowest and the highest if there were several, then the goal.

${raceTable(results, new Map(goals.map((goal) => [goal.id, goal])))}

${otherGoals(goals)}${explained(goals, notes)}## How it was measured

- **Data**: ${count(ANIMALS)} pets; ${count(KEYS)} keys, used in random order.
- **Machine**: the server has core ${SERVER_CORE} for itself. The load generator ${
    postgres
      ? `and PostgreSQL share core ${OTHER_CORE}, which may limit
  the results on PostgreSQL`
      : `has core ${OTHER_CORE}`
  }.
- **Load**: \`taskset -c ${OTHER_CORE} wrk -t1 -c${CONNECTIONS} -d SECONDS --timeout 30s --latency -s bench/load/requests.lua\`; at a constant
  rate [open-loop.mjs](../bench/load/open-loop.mjs), which measures each latency from the time when the request was due.
- **Rounds**: all programs in turn, every other round in reverse order, each after a warm-up.
- **Equal work**: the bench checks that Fastify, Go and Bun send the responses of the service: status, headers and body.
- **Durability**: SQLite with \`synchronous=FULL\`${postgres ? ', PostgreSQL with its default settings' : ''}.${growth ? '\n- **Growth** is compared by CPU time per request.' : ''}
${describeParts(parts)}

${Object.entries(versions)
  .filter(([name]) => postgres || !ONLY_ON_POSTGRES.has(name))
  .map(([name, version]) => `${name} ${version}`)
  .join(', ')}.

## What the other programs lack

None of them has revocation, bans, scopes, idempotency, quotas that survive a restart, usage statistics or overload protection. They
also lack:

${FIELD.filter(({ lacks }) => lacks)
  .map(({ name, lacks }) => `- **${name}**: ${lacks}.`)
  .join('\n')}
`;
}

function raceTable(results, goals) {
  const rows = Object.keys(ENGINES).flatMap((engine) =>
    (results[engine] ?? []).flatMap((contest) => contestRows(contest, engine, goals)),
  );
  return table(['request', 'program', 'requests/s', 'CPU', 'p50 / p99', 'service / program'], rows);
}

function contestRows(contest, engine, goals) {
  const { work, openPerSecond, entries } = contest;
  return entries.map((entry, index) => {
    const { id, perSecond, processorMicros, p50Ms, p99Ms } = entry;
    const rate = openPerSecond === undefined ? '' : `, at ${count(openPerSecond)}/s`;
    return [
      index === 0 ? `**${work}** on ${ENGINES[engine]}${rate}` : '',
      id === SERVICE.id ? `**${NAMES.get(id)}**` : NAMES.get(id),
      count(Math.round(perSecond)),
      `${processorMicros.toFixed(0)} µs`,
      p50Ms === undefined ? '' : `${p50Ms.toFixed(2)} / ${p99Ms.toFixed(2)} ms`,
      id === SERVICE.id ? '' : ratiosTo(contest, engine, id, goals),
    ];
  });
}

function ratiosTo(contest, engine, id, goals) {
  const { work } = contest;
  const goal = engine === 'sqlite' ? goals.get(requestsGoal(work, id)) : undefined;
  const { ratio, least, most } = timesTheRequests(contest, id);
  const cells = [figure({ measured: ratio, least, most, unit: '', digits: 2, ...goal })];
  const latency = id === GO.id ? goals.get(latencyGoal(work, engine)) : undefined;
  if (latency !== undefined) cells.push(`p99 ${figure(latency)}`);
  return cells.join('; ');
}

/** What is not in the table. */
function otherGoals(goals) {
  const others = goals.filter(({ reason }) => !TOPICS.has(reason));
  if (others.length === 0) return '';
  const lines = others.map((goal) => `- ${goal.text}: ${figure(goal)}`);
  return `## Growth, start and memory\n\n${lines.join('\n')}\n\n`;
}

/** The load average that the bench itself causes. */
const OWN_LOAD = 3;

/** One line for all parts that were measured in the same way. */
function describeParts(parts) {
  const titles = new Map();
  for (const [part, { pace, measuredOn, machine, busy }] of Object.entries(parts)) {
    const others =
      busy > OWN_LOAD ? `, **while other programs used the machine** (load average ${busy})` : '';
    const rounds = `${inRounds(pace.rounds)} of ${pace.seconds} s, ${inRounds(pace.openRounds)} of ${pace.openSeconds} s at a constant rate`;
    const line = `${rounds}, on ${measuredOn}, ${machine}${others}`;
    titles.set(line, [...(titles.get(line) ?? []), TITLES[part]]);
  }
  const lines = Array.from(titles, ([line, names]) => `- **${names.join('; ')}**: ${line}.`);
  const missing = Object.keys(TITLES).filter((part) => !(part in parts));
  if (missing.length > 0)
    lines.push(`- **Not measured**: ${missing.map((part) => TITLES[part]).join('; ')}.`);
  return lines.join('\n');
}

const inRounds = (number) => `${number} round${number === 1 ? '' : 's'}`;

/** One line for all missed goals with the same reason. */
function explained(goals, notes) {
  const byReason = new Map();
  for (const goal of goals.filter((each) => !isMet(each)))
    byReason.set(goal.reason, [...(byReason.get(goal.reason) ?? []), goal.text]);
  if (byReason.size === 0) return '';
  const lines = Array.from(byReason, ([reason, texts]) => {
    const topic = TOPICS.has(reason) ? `${TOPICS.get(reason)}: ${texts.join(', ')}` : texts[0];
    return `- **${topic}**. ${notes.get(reason) ?? 'Not explained yet.'}`;
  });
  return `## Why goals were missed\n\n${lines.join('\n')}\n\n`;
}

/** A measured value with its spread and its goal, if there is one. */
function figure({ measured, least, most, goal, atLeast, unit, digits }) {
  const show = (value) =>
    unit === '' ? value.toFixed(digits) : `${count(Math.round(value))} ${unit}`;
  const spread =
    least === undefined || least === most
      ? ''
      : ` (${least.toFixed(digits)}-${most.toFixed(digits)})`;
  if (goal === undefined) return `${show(measured)}${spread}`;
  const wanted = unit === '' ? String(goal) : `${count(goal)} ${unit}`;
  const verdict = isMet({ measured, goal, atLeast }) ? '' : ' **missed**';
  return `**${show(measured)}**${spread}, ${atLeast ? '≥' : '≤'} ${wanted}${verdict}`;
}

function count(number) {
  return number.toLocaleString('en');
}

/** Formatted as Prettier does it. */
function table(heading, rows) {
  const widths = heading.map((cell, column) =>
    Math.max(3, ...[heading, ...rows].map((row) => row[column].length)),
  );
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(heading), rule, ...rows.map(line)].join('\n');
}
