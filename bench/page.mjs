// Writes docs/performance.md, its chart, and the capacity table of docs/scaling.md, from the
// figures in docs/performance.json. A part may be measured alone; the others keep their figures.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { drawChart } from './chart.mjs';
import { FASTIFY, FIELD, SERVICE } from './field/field.mjs';
import { describeMachine, versions } from './lib/machine.mjs';
import { FULL, LOW_RATE, ratioOf, root } from './settings.mjs';

const FILE = `${root}docs/performance.json`;
const SCALING = `${root}docs/scaling.md`;
const CAPACITY = /(<!-- capacity: .*? -->\n).*(<!-- end of capacity -->)/s;
const DIGITS = 4;
const ENGINES = { sqlite: 'SQLite', postgres: 'PostgreSQL' };
const NAMES = new Map(FIELD.map(({ id, name }) => [id, name]));
NAMES.set('keyed', 'the service, keyed create');
/** Plan with this share of a core. */
const BUSY = 0.7;

export function publish(part, results) {
  const published = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : { parts: {} };
  const measured = `Measured on ${new Date().toISOString().slice(0, 10)}, ${describeMachine()}`;
  const parts = { ...published.parts, [part]: results };
  const text = JSON.stringify({ measured, versions: versions(), parts }, rounded, 1);
  writeFileSync(FILE, `${text}\n`);
  writePages(JSON.parse(text));
}

/** Generates all files from the published figures. */
function writePages(published) {
  const { parts } = published;
  const races = Object.entries(ENGINES).flatMap(([engine, name]) =>
    (parts[engine] ?? []).map((contest) => {
      return { title: `${contest.work}, ${name}`, engine, contest };
    }),
  );
  const texts = textsOf(published, races);
  const template = readFileSync(`${root}bench/page.template.md`, 'utf8');
  const page = template.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => texts[name]);
  writeFileSync(`${root}docs/performance.md`, page);
  writeFileSync(`${root}docs/performance.svg`, drawChart(races, NAMES));
  if (parts.nodes === undefined) return;
  const table = `$1\n${capacityTable(parts.nodes)}\n\n$2`;
  writeFileSync(SCALING, readFileSync(SCALING, 'utf8').replace(CAPACITY, table));
}

/** The values in the template. */
function textsOf({ measured, versions: all, parts }, races) {
  const { latency = [], growth = { costs: [] } } = parts;
  const high = latency.filter(({ work, perSecond }) => perSecond !== LOW_RATE[work]);
  const rates = (list) => list.map(([work, rate]) => `${count(rate)} ${work}s`).join(', ');
  const programs = Object.entries(all).map((each) => each.join(' '));
  const connections = growth.costs.find(({ id }) => id === 'connections')?.ratio ?? NaN;
  return {
    ...FULL,
    measured,
    versions: programs.join(', '),
    table: raceTable(races, latency),
    lowRates: rates(Object.entries(LOW_RATE)),
    highRates: rates(high.map(({ work, perSecond }) => [work, perSecond])),
    growth: growth.memory === undefined ? '' : growthText(growth),
    connections: connections.toFixed(1),
  };
}

function raceTable(races, latencies) {
  const rows = races.flatMap(({ engine, contest: { work, entries } }) => {
    const here = latencies.filter((each) => each.engine === engine && each.work === work);
    const latencyOf = (at, id) => latencyText(here[at]?.entries.find((entry) => entry.id === id));
    const fastify = entries.find(({ id }) => id === FASTIFY.id);
    return entries.map(({ id, rounds, perSecond, cpuMicros }, index) => [
      index === 0 ? `**${work}**, ${ENGINES[engine]}` : '',
      id === SERVICE.id ? `**${NAMES.get(id)}**` : NAMES.get(id),
      count(perSecond),
      id === FASTIFY.id ? '1' : ratioText(rounds, fastify.rounds),
      `${cpuMicros.toFixed(0)} µs`,
      latencyOf(0, id),
      latencyOf(1, id),
    ]);
  });
  const rates = ['low rate: p50 / p90 / p99 / p99.9 ms', 'high rate'];
  return table(['request', 'program', 'requests/s', 'to Fastify', 'CPU', ...rates], rows);
}

function ratioText(ours, fastify) {
  const { ratio, least, most } = ratioOf(ours, fastify, ({ perSecond }) => perSecond);
  return `**${ratio.toFixed(2)}** (${least.toFixed(2)}-${most.toFixed(2)})`;
}

function latencyText(latency) {
  if (latency === undefined) return '';
  const { p50, p90, p99, p999 } = latency;
  return [p50, p90, p99, p999].map((each) => each.toFixed(2)).join(' / ');
}

function growthText({ readyMs, costs, memory }) {
  const seconds = (readyMs / 1000).toFixed(1);
  const [idle, loaded, own] = [memory.idleMb, memory.loadedMb, memory.ownMb].map(Math.round);
  const ratios = costs.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`).join('; ');
  return (
    `The service starts in ${seconds} s, and uses ${idle} MB idle, ${loaded} MB under load, and ` +
    `${own} MB more with ${count(memory.keys)} active keys. Growth of the CPU time of a request, as a ratio: ${ratios}.`
  );
}

/** What a node, a core of PostgreSQL and a Redis can process. */
function capacityTable(costs) {
  const programs = ['node', 'postgres', 'redis'];
  const works = [...new Set(costs.map(({ work }) => work))];
  const rows = works.map((work) => {
    const here = costs.filter((cost) => cost.work === work);
    const micros = (program) => here.map((cost) => Math.round(cost[program])).join(' / ');
    const capacity = (program) => {
      const most = Math.max(...here.map((cost) => cost[program]));
      return count(Math.floor((BUSY * 1e6) / most / 100) * 100);
    };
    return [work, ...programs.map(micros), ...programs.map(capacity)];
  });
  const measured = ['µs on 1 / 2 / 3 nodes', 'µs in PostgreSQL', 'µs in Redis'];
  const derived = ['requests/s per node', 'per core of PostgreSQL', 'per Redis'];
  return table(['request', ...measured, ...derived], rows);
}

function count(number) {
  return Math.round(number).toLocaleString('en');
}

/** Formatted as Prettier does it. */
function table(heading, rows) {
  const widths = heading.map((_, at) =>
    Math.max(3, ...[heading, ...rows].map((row) => row[at].length)),
  );
  const line = (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at])).join(' | ')} |`;
  return [heading, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n');
}

function rounded(_name, value) {
  const isFraction = typeof value === 'number' && !Number.isInteger(value);
  return isFraction ? Number(value.toPrecision(DIGITS)) : value;
}
