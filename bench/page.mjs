// Writes docs/performance.md, its chart, and the capacity table of docs/scaling.md, from the
// figures in docs/performance.json. A part may be measured alone; the others keep their figures.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { drawChart } from './chart.mjs';
import { FASTIFY, NAMES, SERVICE, TWO_CORES } from './field/field.mjs';
import { describeMachine, versions } from './lib/machine.mjs';
import { FULL, LOW_RATE, root } from './settings.mjs';

const FILE = `${root}docs/performance.json`;
const SCALING = `${root}docs/scaling.md`;
const CAPACITY = /(<!-- capacity: .*? -->\n).*(<!-- end of capacity -->)/s;
const DIGITS = 4;
const ENGINES = { sqlite: 'SQLite', postgres: 'PostgreSQL' };
/** Plan with this share of a core. */
const BUSY = 0.7;
/** Rounds that differ by a larger factor are marked. */
const STEADY = 1.5;
const LOW_RATES = listed(
  Object.entries(LOW_RATE.sqlite).map(([work, rate]) => `${count(rate)} ${work}s`),
);

export function publish(part, results) {
  const { runs = {}, parts = {} } = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
  const measured = `Measured on ${new Date().toISOString().slice(0, 10)}, ${describeMachine()}`;
  runs[part] = { measured, versions: versions() };
  const text = JSON.stringify({ runs, parts: { ...parts, [part]: results } }, rounded, 1);
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
  writeFileSync(`${root}docs/performance.svg`, drawChart(races));
  if (parts.nodes === undefined) return;
  const table = `$1\n${capacityTable(parts.nodes)}\n\n$2`;
  writeFileSync(SCALING, readFileSync(SCALING, 'utf8').replace(CAPACITY, table));
}

/** The values in the template. */
function textsOf({ runs, parts }, races) {
  const { latency = [], growth = { costs: [] } } = parts;
  const connections = growth.costs.find(({ id }) => id === 'connections')?.ratio ?? NaN;
  const takeaways = [speedText, tailText, priceText].map((text) => text(parts));
  return {
    ...FULL,
    openSeconds: latency[0]?.seconds ?? FULL.openSeconds,
    lowRates: LOW_RATES,
    postgresLists: count(LOW_RATE.postgres.list),
    takeaways: takeaways
      .filter(Boolean)
      .map((text) => `- ${text}`)
      .join('\n'),
    measured: measuredText(runs),
    table: raceTable(races, latency),
    growth: growth.memory === undefined ? '' : growthText(growth),
    connections: connections.toFixed(1),
  };
}

/** The three sentences that a reader takes away. They are empty until their part is measured. */
function speedText({ sqlite = [] }) {
  const { service, fastify, go, tutorial } = bySeries(sqlite);
  if (tutorial === undefined) return '';
  const than = (others, name) => {
    const ratios = service.map(({ perSecond }, at) => perSecond / others[at].perSecond);
    return `${listed(ratios.map((ratio) => ratio.toFixed(2)))} times as many as ${name}`;
  };
  const rates = service.map(({ perSecond, work }) => `${count(perSecond)} ${work}s`);
  const others = [than(fastify, 'Fastify by hand'), go && than(go, 'Go')].filter(Boolean);
  return (
    `On one core with SQLite, the service responds to ${listed(rates)} a second: ` +
    `${others.join('; ')}; ${than(tutorial, 'Nest as in its tutorial')}.`
  );
}

function tailText({ latency = [] }) {
  const here = latency.filter(({ engine }) => engine === 'sqlite');
  const { service, [TWO_CORES.id]: two } = bySeries(here);
  if (two === undefined) return '';
  const worst = (entries, of) => Math.max(...entries.map((each) => each[of])).toFixed(1);
  return (
    `At ${LOW_RATES} a second, 99 % take at most ${worst(service, 'p99')} ms and 99.9 % at ` +
    `most ${worst(service, 'p999')} ms, with a second core ${worst(two, 'p999')} ms.`
  );
}

function priceText({ sqlite = [] }) {
  const { service, bare } = bySeries(sqlite);
  if (bare === undefined) return '';
  const shares = bare.map(({ work, cpuMicros }, at) => {
    return `${Math.round((1 - cpuMicros / service[at].cpuMicros) * 100)} % of a ${work}`;
  });
  return `Of the CPU time, key, quota, log and metrics cost ${listed(shares)}.`;
}

/** The entries of each program, in the order of the kinds of requests. */
function bySeries(contests) {
  const all = contests.flatMap(({ work, entries }) => entries.map((each) => ({ ...each, work })));
  return Object.groupBy(all, ({ id }) => id);
}

/** Parts that were measured with other releases, or on another day, are told apart. */
function measuredText(runs) {
  const texts = Object.groupBy(Object.keys(runs), (part) => {
    const programs = Object.entries(runs[part].versions).map((each) => each.join(' '));
    return `${runs[part].measured}. ${programs.join(', ')}.`;
  });
  const lines = Object.entries(texts);
  return lines
    .map(([text, of]) => (lines.length > 1 ? `${listed(of)}: ${text}` : text))
    .join('\n\n');
}

function raceTable(races, latencies) {
  const rows = races.flatMap(({ engine, contest: { work, entries } }) => {
    const fastify = entries.find(({ id }) => id === FASTIFY.id);
    const raced = new Map(entries.map((entry) => [entry.id, entry]));
    const tails = latencies.find((each) => each.engine === engine && each.work === work)?.entries;
    const slow = new Map(tails?.map((entry) => [entry.id, entry]));
    const ids = new Set([...raced.keys(), ...slow.keys()]);
    return Array.from(ids, (id, index) => [
      index === 0 ? `**${work}**, ${ENGINES[engine]}` : '',
      id === SERVICE.id ? `**${NAMES.get(id)}**` : NAMES.get(id),
      ...raceCells(raced.get(id), fastify),
      latencyCell(slow.get(id)),
    ]);
  });
  const figures = ['requests/s', 'to Fastify', 'CPU in µs', 'p50 / p99 / p99.9 in ms'];
  return table(['request', 'program', ...figures], rows);
}

function raceCells(entry, fastify) {
  if (entry === undefined) return ['', '', ''];
  const { rounds, perSecond, cpuMicros } = entry;
  const ratio = (perSecond / fastify.perSecond).toFixed(2);
  const of = (member) => rounds.map((round) => round[member]);
  return [
    `${count(perSecond)} (${spread(of('perSecond'), 0)})`,
    entry === fastify ? '1' : `**${ratio}**`,
    `${count(cpuMicros)} (${spread(of('cpuMicros'), 0)})`,
  ];
}

function latencyCell(latency) {
  if (latency === undefined) return '';
  const { p50, p99, p999, rounds = [p999] } = latency;
  const isSteady = Math.max(...rounds) <= Math.min(...rounds) * STEADY;
  const all = [p50, p99, p999].map((each) => each.toFixed(2)).join(' / ');
  return `${all} (${spread(rounds, 1)}${isSteady ? '' : ', unsteady'})`;
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

/** The lowest and the highest of the rounds. */
function spread(values, digits) {
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const bounds = [Math.min(...values), Math.max(...values)];
  return bounds.map((bound) => bound.toLocaleString('en', format)).join('-');
}

function listed(texts) {
  return new Intl.ListFormat('en').format(texts);
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
