// Writes docs/performance.md from the published figures.
import { FIELD } from '../field/field.mjs';
import { ANIMALS, CONNECTIONS, KEYS, OTHER_CORE, PAGE, SERVER_CORE } from '../settings.mjs';
import { goalsOf, isMet, shortfall } from './goals.mjs';

const TITLES = {
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
  redis: 'PostgreSQL and Redis',
  growth: 'growth, start and memory',
};

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

How fast the service is, compared with other programs that do the same or a similar job on the same machine.
\`npm run bench\` measures it and writes this page (\`npm run bench -- --help\` lists shorter runs);
[performance.json](performance.json) has every figure.

Only the ratios are meaningful: requests per second depend on the machine and the hour. The **floor** is
[a hand-written Fastify program](../bench/field/floor.mjs) with the same data, headers and durability. A *list* is a
page of ${PAGE} animals, a *get* one animal, a *create* a durable insert.

![Requests per second, as a ratio to the floor program](performance.svg)

## Goals and results

The median of all rounds; in parentheses the lowest and the highest.

${table(['goal', 'required', 'measured', 'result'], goals.map(goalRow))}

${explained(goals, notes)}## How it was measured

- **Data**: ${count(ANIMALS)} animals; ${count(KEYS)} keys, used in random order; ${CONNECTIONS} keep-alive connections.
- **Machine**: the server has core ${SERVER_CORE} for itself. The load generator, PostgreSQL and Redis share core ${OTHER_CORE}, so on these
  engines they may be the limit.
- **Load**: \`taskset -c ${OTHER_CORE} wrk -t1 -c${CONNECTIONS} -d SECONDS --timeout 30s --latency -s bench/load/requests.lua\`.
- **Rounds**: all servers in turn, every other round in reverse order, each after a warm-up.
- **Equal work**: before each comparison, service and floor have to give equal responses: status, headers and body.
- **Service**: log at \`info\` to a file, metrics on. **Floor**: no log, metrics, bans, idempotency or exact int64.
- **Durability**: SQLite with \`synchronous=FULL\`, PostgreSQL as installed. The floor commits once per create, the
  service once per event-loop tick.
- **Growth** is compared by processor time per request, everything else by requests per second.
${describeParts(parts)}

${Object.entries(versions)
  .map(([name, version]) => `${name} ${version}`)
  .join(', ')}.

${results.sqlite === undefined ? '' : othersLeaveOut(results.sqlite)}`;
}

/** The load average that the bench itself causes. */
const OWN_LOAD = 3;

/** One line for all parts that were measured in the same way. */
function describeParts(parts) {
  const titles = new Map();
  for (const [part, { pace, measuredOn, machine, busy }] of Object.entries(parts)) {
    const others =
      busy > OWN_LOAD ? `, **while other programs used the machine** (load average ${busy})` : '';
    const line = `${pace.rounds} rounds of ${pace.seconds} s, on ${measuredOn}, ${machine}${others}`;
    titles.set(line, [...(titles.get(line) ?? []), TITLES[part]]);
  }
  return Array.from(titles, ([line, names]) => `- **${names.join('; ')}**: ${line}.`).join('\n');
}

function othersLeaveOut(contests) {
  const tookPart = new Set(contests.flatMap(({ entries }) => entries.map(({ name }) => name)));
  const others = FIELD.filter(({ name }) => tookPart.has(name));
  return `## What the other programs leave out

${others.map(({ name, unequal }) => `- **${name}**: ${unequal}.`).join('\n')}
`;
}

function explained(goals, notes) {
  const missed = goals.filter((goal) => !isMet(goal));
  if (missed.length === 0) return '';
  const lines = missed.map(
    (goal) => `- **${goal.text}**: ${notes.get(goal.id) ?? 'Not explained yet.'}`,
  );
  return `## Why goals were missed\n\n${lines.join('\n')}\n\n`;
}

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

function percent(share) {
  if (share < 0.001) return 'less than 0.1 %';
  return `${(share * 100).toFixed(share < 0.01 ? 1 : 0)} %`;
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
