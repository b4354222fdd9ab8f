// Reads and writes docs/performance.json, and generates docs/performance.md and its chart from it. A part may be measured
// alone; the other parts keep their figures.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { describeMachine, versions } from './machine.mjs';
import { drawChart } from './page/chart.mjs';
import { readNotes } from './page/notes.mjs';
import { writePage } from './page/page.mjs';
import { panelsOf } from './page/panels.mjs';
import { root } from './settings.mjs';

const FILE = `${root}docs/performance.json`;
const DIGITS = 4;

/** @returns {Record<string, {results: object, pace: object, measuredOn: string, machine: string}>} by part */
export function readPublished() {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')).parts : {};
}

/** @param {Record<string, object>} results by part */
export function publish(results, pace) {
  const measuredOn = new Date().toISOString().slice(0, 10);
  const parts = readPublished();
  // The load average of 5 minutes, in which the bench itself has kept two cores busy.
  const busy = Math.round(loadavg()[1]);
  for (const [part, figures] of Object.entries(results))
    parts[part] = { measuredOn, machine: describeMachine(), busy, pace, results: figures };
  const published = { versions: versions(), parts };
  writeFileSync(FILE, `${JSON.stringify(published, round, 1)}\n`);
  writePages();
}

/** Generates the page and the chart from the published figures. */
export function writePages() {
  const published = JSON.parse(readFileSync(FILE, 'utf8'));
  const notes = readNotes();
  writeFileSync(`${root}docs/performance.md`, writePage({ ...published, notes }));
  const results = Object.fromEntries(
    Object.entries(published.parts).map(([part, { results }]) => [part, results]),
  );
  writeFileSync(`${root}docs/performance.svg`, drawChart(panelsOf(results)));
}

function round(_name, value) {
  return typeof value === 'number' && !Number.isInteger(value)
    ? Number(value.toPrecision(DIGITS))
    : value;
}
