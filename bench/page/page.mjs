// docs/performance.md out of a run's results.
import { FIELD } from '../field/field.mjs';
import { ANIMALS, CONNECTIONS, KEYS, OTHER_CORE, SERVER_CORE } from '../settings.mjs';
import { goalsOf, isMet, NAMES, shortfall } from './goals.mjs';

/**
 * @param {{parts: Record<string, object>, versions: Record<string, string>,
 *   notes: Map<string, string>}} published see `published.mjs`
 */
export function writePage({ parts, versions, notes }) {
  const results = Object.fromEntries(
    Object.entries(parts).map(([part, each]) => [part, each.results]),
  );
  const goals = goalsOf(results);
  return `# Performance

Written by \`npm run bench\`, whose figures are in [performance.json](performance.json); \`npm run bench -- --quick\`
compares ours with the floor on SQLite alone, in a minute, \`npm run bench -- --check\` says what got worse since, and
\`npm run bench -- --beside REF\` what another commit's build takes beside this one: on another machine the ratios to the
floor differ by themselves, for the two spend their time in different places.
What counts are the ratios, measured side by side and interleaved in one run. The requests a second are those of this
machine at that hour, and mean nothing by themselves.

![Requests a second, as a ratio to the floor program](performance.svg)

## Goals

${table(['goal', 'to reach', 'measured', ''], goals.map(goalRow))}

${explained(goals, notes)}
## How it is measured

- The **floor** is [a hand-written program](../bench/field/floor.mjs) that does the same job with the same data,
  headers and durability: Fastify, prepared statements, a key look-up by digest with a cache, two counters a key,
  compiled serialisation; on Redis one script call. It leaves out the log, metrics, bans and idempotency, and rounds
  integers beyond 2^53. It binds the limit of a page as everybody does, for which SQLite plans the statement anew each
  time: a tenth of its page, or more, that ours does not pay. Before each comparison both are asked the same, and have
  to answer the same: status, headers and body of a page, the next page, a filtered page, an animal, and a new one.
- ${count(ANIMALS)} animals, ${count(KEYS)} keys, in an order without locality, ${CONNECTIONS} keep-alive connections, pages of 20. Ours has its log at \`info\` to a
  file and its metrics on. \`create\` is durable on both sides: \`synchronous=FULL\`, and PostgreSQL as it is installed.
- The server has core ${SERVER_CORE} for itself. The load generator has core ${OTHER_CORE}, and so have PostgreSQL and Redis, for both sides:
  where these are busy, they and not the server may be what is measured, so the server's own processor time is told
  besides. Each load is \`taskset -c ${OTHER_CORE} wrk -t1 -c${CONNECTIONS} -d SECONDS --timeout 30s --latency -s bench/load/requests.lua\`.
- Medians of rounds, each server in turn and every other round in the reverse order, after some time to warm up; in
  parentheses the least and the most of the rounds' ratios.
${Object.entries(parts).map(describePart).join('\n')}
- What should not grow is compared by processor time, all else by requests a second.

${Object.entries(versions)
  .map(([name, version]) => `${name} ${version}`)
  .join(', ')}.

${SECTIONS.filter(([part]) => results[part] !== undefined)
  .map(([part, write]) => write(results[part]))
  .join('\n')}${results.growth === undefined ? UNMEASURED : ''}`;
}

/** So much the bench itself makes of it. */
const MOST_ALONE = 3;

const UNMEASURED = `
## What should not grow

Not measured anew for this edition, and neither is the start, nor memory: \`npm run bench -- --only growth --publish\`.
`;

const SECTIONS = [
  ['sqlite', onSqlite],
  ['postgres', (contests) => `## PostgreSQL\n\n${contestTables(contests)}\n`],
  ['redis', (contests) => `## PostgreSQL + Redis\n\n${contestTables(contests)}\n`],
  ['growth', whatShouldNotGrow],
];

function describePart([part, { pace, measuredOn, machine, busy }]) {
  const rounds = `${pace.rounds} rounds of ${pace.seconds} s`;
  const alone =
    busy > MOST_ALONE
      ? `, **while others used the machine** (load average ${busy}): read the processor time`
      : '';
  return `- ${part}: ${rounds}, on ${measuredOn}, ${machine}${alone}.`;
}

function onSqlite(contests) {
  const took = new Set(contests.flatMap(({ entries }) => entries.map(({ name }) => name)));
  return `## SQLite, and the field

${contestTables(contests)}

The floor commits, and so syncs the disk, once per create; ours once per turn of the event loop, for all creates of
that turn. What the others leave out:

${FIELD.filter(({ name }) => took.has(name))
  .map(({ name, unequal }) => `- **${name}**: ${unequal}.`)
  .join('\n')}

`;
}

function whatShouldNotGrow({ costs, memory, limiter }) {
  return `## What should not grow

${table(['case', 'times the cost'], costs.map(costRow))}

At ${count(memory.keys)} keys every request is another key's: at first each is looked up in the database and counted for the
first time, then each has been seen before.

The limiter alone, in process, beside the storage of \`@nestjs/throttler\` with one key at its limit:

${table(['limit', 'ours, ns', 'stock, ns'], limiter.map(limiterRow))}
`;
}

/** What is said of each goal that is missed, and of those that it sends the reader to. */
function explained(goals, notes) {
  const titles = new Map(goals.map(({ id, text }) => [id, text]));
  const told = new Set(goals.filter((goal) => !isMet(goal)).map(({ id }) => id));
  // A set is walked on to what is added meanwhile.
  for (const id of told)
    for (const [, other] of (notes.get(id) ?? '').matchAll(REFERENCE))
      if (titles.has(other)) told.add(other);
  const named = (note) =>
    note.replace(REFERENCE, (text, id) => (titles.has(id) ? `*${titles.get(id)}*` : text));
  const texts = goals
    .filter(({ id }) => told.has(id))
    .map((goal) => {
      const note = named(notes.get(goal.id) ?? 'Not explained yet.');
      return `### ${goal.text}: ${verdictOn(goal)}\n\n${note}\n`;
    });
  return texts.length === 0 ? '' : `## Where the time goes\n\n${texts.join('\n')}`;
}

/** A note names another goal by its id, as code. */
const REFERENCE = /`([\w-]+)`/g;

function verdictOn(goal) {
  return isMet(goal) ? 'met' : `missed by ${percent(shortfall(goal))}`;
}

function goalRow(goal) {
  const { text, atLeast, unit, digits } = goal;
  const figure = (value) =>
    unit === '' ? value.toFixed(digits) : `${count(Math.round(value))} ${unit}`;
  const wanted = unit === '' ? String(goal.goal) : `${count(goal.goal)} ${unit}`;
  const spread =
    goal.least === undefined ? '' : ` (${goal.least.toFixed(digits)}-${goal.most.toFixed(digits)})`;
  return [
    text,
    `${atLeast ? '≥' : '≤'} ${wanted}`,
    `**${figure(goal.measured)}**${spread}`,
    verdictOn(goal),
  ];
}

function contestTables(contests) {
  const heading = ['', 'to the floor', 'requests/s', 'p99, ms', 'processor, µs a request'];
  return contests
    .map(({ work, entries }) => {
      const rows = entries.map(({ name, ratio, perSecond, p99Ms, processorMicros }) => [
        name,
        name === 'floor' ? '1' : spreadOf(ratio),
        count(Math.round(perSecond)),
        p99Ms.toFixed(1),
        processorMicros.toFixed(processorMicros < 1_000 ? 1 : 0),
      ]);
      return table([`**${NAMES[work] ?? work}**`, ...heading.slice(1)], rows);
    })
    .join('\n\n');
}

function costRow({ name, ...ratio }) {
  return [name, spreadOf(ratio)];
}

function limiterRow({ limit, nanoseconds, stockNanoseconds }) {
  const stock = stockNanoseconds === undefined ? 'takes minutes' : count(stockNanoseconds);
  return [count(limit), count(nanoseconds), stock];
}

function spreadOf({ ratio, least, most }) {
  const digits = ratio < 0.1 ? 3 : 2;
  const [from, to] = [least, most].map((each) => each.toFixed(digits));
  return `**${ratio.toFixed(digits)}** (${from}-${to})`;
}

function percent(share) {
  return `${(share * 100).toFixed(0)} %`;
}

function count(number) {
  return number.toLocaleString('en');
}

/** As Prettier would have it, so that a fresh page is a formatted one. */
function table(heading, rows) {
  const widths = heading.map((cell, column) =>
    Math.max(3, ...[heading, ...rows].map((row) => row[column].length)),
  );
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(heading), rule, ...rows.map(line)].join('\n');
}
