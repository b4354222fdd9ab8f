// docs/performance.md out of a run's results.
import { FIELD } from '../field/field.mjs';
import { ANIMALS, CONNECTIONS, KEYS, OTHER_CORE, SERVER_CORE } from '../settings.mjs';
import { goalsOf, isMet, shortfall } from './goals.mjs';

/**
 * @param {object} results of `run.mjs`: sqlite, postgres, redis, growth, minutes
 * @param {{pace: object, machine: string, versions: Record<string, string>, notes: Map<string, string>}} context
 */
export function writePage(results, { pace, machine, versions, notes }) {
  const goals = goalsOf(results);
  return `# Performance

Written by \`npm run bench\` (${results.minutes.toFixed(0)} minutes); \`npm run bench -- --quick\` compares ours with the floor
on SQLite alone, in a minute. What counts are the ratios, measured side by side and interleaved in one run. The
requests a second are those of this machine at that hour, and mean nothing by themselves.

![Requests a second, as a ratio to the floor program](performance.svg)

## Goals

${table(['goal', 'to reach', 'measured', ''], goals.map(goalRow))}

${missed(goals, notes)}
## How it is measured

- The **floor** is [a hand-written program](../bench/field/floor.mjs) that does the same job with the same data,
  headers and durability: Fastify, prepared statements, a key look-up by digest with a cache, two counters a key,
  compiled serialisation; on Redis one script call. It leaves out the log, metrics, bans and idempotency, and rounds
  integers beyond 2^53. Before each comparison both are asked the same, and have to answer the same: status,
  headers and body of a page, the next page, a filtered page, an animal, and a new one.
- ${count(ANIMALS)} animals, ${count(KEYS)} keys in turn, ${CONNECTIONS} keep-alive connections, pages of 20. Ours has its log at \`info\` to a
  file and its metrics on. \`create\` is durable on both sides: \`synchronous=FULL\`, and PostgreSQL as it is installed.
- The server has core ${SERVER_CORE} for itself. The load generator has core ${OTHER_CORE}, and so have PostgreSQL and Redis, for both sides:
  where these are busy, they and not the server may be what is measured, so the server's own processor time is told
  besides. Each load is \`taskset -c ${OTHER_CORE} wrk -t1 -c${CONNECTIONS} -d${pace.seconds}s --timeout 30s --latency -s bench/load/requests.lua\`.
- Medians of ${pace.rounds} rounds of ${pace.seconds} s (all but the two on SQLite: ${pace.shortSeconds} s) after ${pace.warmUpSeconds} s to warm up, each server in turn and every other round in
  the reverse order; in parentheses the least and the most of the rounds' ratios.

${machine}.
${Object.entries(versions)
  .map(([name, version]) => `${name} ${version}`)
  .join(', ')}.

## SQLite, and the field

${contestTables(results.sqlite)}

The floor commits, and so syncs the disk, once per create; ours once per turn of the event loop, for all creates of
that turn. What the others leave out:

${FIELD.map(({ name, unequal }) => `- **${name}**: ${unequal}.`).join('\n')}

## PostgreSQL

${contestTables(results.postgres)}

## PostgreSQL + Redis

${contestTables(results.redis)}

## What does not grow

${table(['case', 'times the cost'], results.growth.costs.map(costRow))}

At ${count(results.growth.memory.keys)} keys every request is another key's: each is looked up in the database and counted for the first time.
Besides the memory of its own, ${count(Math.round(results.growth.memory.mappedMb))} MB more of the database's file are mapped, which the kernel takes back when it needs
them.

The limiter alone, in process, beside the storage of \`@nestjs/throttler\` with one key at its limit:

${table(['limit', 'ours, ns', 'stock, ns'], results.growth.limiter.map(limiterRow))}
`;
}

function missed(goals, notes) {
  const texts = goals
    .filter((goal) => !isMet(goal))
    .map((goal) => {
      const note = notes.get(goal.id) ?? 'Not explained yet.';
      return `### ${goal.text}: missed by ${percent(shortfall(goal))}\n\n${note}\n`;
    });
  return texts.length === 0 ? '' : `## Where the time goes\n\n${texts.join('\n')}`;
}

function goalRow(goal) {
  const { text, atLeast, unit, digits } = goal;
  const figure = (value) =>
    unit === '' ? value.toFixed(digits) : `${count(Math.round(value))} ${unit}`;
  const wanted = unit === '' ? String(goal.goal) : `${count(goal.goal)} ${unit}`;
  const spread =
    goal.least === undefined ? '' : ` (${goal.least.toFixed(digits)}-${goal.most.toFixed(digits)})`;
  const verdict = isMet(goal) ? 'met' : `missed by ${percent(shortfall(goal))}`;
  return [
    text,
    `${atLeast ? '≥' : '≤'} ${wanted}`,
    `**${figure(goal.measured)}**${spread}`,
    verdict,
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
      return table([`**${work}**`, ...heading.slice(1)], rows);
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
