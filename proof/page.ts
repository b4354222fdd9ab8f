import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { format, resolveConfig } from 'prettier';
import { type Part } from './part.js';
import { PARTS } from './parts.js';
import type { Report } from './run-part.js';

const PAGE = 'docs/reliability.md';
const DATA = 'docs/reliability.json';

/** The result of a full run of one part. */
interface Recorded {
  seed: number;
  tried: string;
  figures: Report['figures'];
  faults: number;
  seconds: number;
  commit: string;
  date: string;
  machine: string;
}

interface Data {
  results: Record<string, Recorded>;
  /** What the parts have found, in the order of time; kept by hand. */
  found: {
    part: string;
    seed: number;
    fault: string;
    change: string;
    commit: string;
    test: string;
  }[];
}

async function readData(): Promise<Data> {
  return JSON.parse(await readFile(DATA, 'utf8')) as Data;
}

/** Stores the result of a full run of a part, and writes the page. */
export async function recordResults(name: string, report: Report & { seed: number }) {
  const data = await readData();
  const { seed, tried, figures, faults, seconds } = report;
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores, Node ${process.version}`;
  const counts = { seed, tried, figures, faults: faults.length, seconds };
  data.results[name] = Object.assign(counts, { commit, date, machine });
  await writeFile(DATA, `${JSON.stringify(data, undefined, 2)}\n`);
  await writePage();
}

/** Writes the page from the data. */
export async function writePage(): Promise<void> {
  const text = pageOf(await readData());
  const options = await resolveConfig(PAGE);
  await writeFile(PAGE, await format(text, { ...options, parser: 'markdown' }));
}

function rowOf({ name, tries, holds }: Part, recorded: Recorded | undefined): string {
  const cells = [tries, holds];
  if (recorded === undefined)
    return row(`\`npm run proof:${name}\``, ...cells, 'no full run yet', '');
  const { seed, tried, faults, seconds } = recorded;
  const result = faults === 0 ? 'no fault' : `**faults found: ${faults}**`;
  const command = `\`npm run proof:${name} -- --seed ${seed}\``;
  return row(command, ...cells, `${tried}: ${result}`, `${seconds} s`);
}

function row(...cells: string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function figuresOf(name: string, { figures, commit, date, machine }: Recorded): string {
  const counts = Object.entries(figures).map(([figure, count]) => `${figure} ${count}`);
  const run = `commit ${commit}, ${date}, ${machine}`;
  return `- **${name}** (${run})${counts.length > 0 ? `: ${counts.join('; ')}` : ''}.`;
}

function pageOf({ results, found }: Data): string {
  const ran = PARTS.filter(({ name }) => name in results);
  const figures = ran.map(({ name }) => figuresOf(name, results[name]!));
  const faults = found.map(({ part, seed, fault, change, commit, test }) =>
    row(`\`${part}\``, `${seed}`, fault, `${change} (${commit})`, test),
  );
  return `<!-- Written by npm run proof from docs/reliability.json. -->

# Reliability

For engineers who want to check what the service promises before they rely on it. Each row is a
command that tries to break promises, and its last full run. Fuzzing, faults and crashes use the
real program through its public interfaces: HTTP, the command line and signals. The model runs the
whole service with a clock that can be set, the simulator the classes that decide, on simulated
time, and mutation the tests. Whether a deployment keeps to the API, whatever it is written in, is
checked by the [conformance suite](../conformance/README.md).

\`\`\`sh
npm ci
npm run proof                        # everything: about 30 minutes on two cores
npm run proof -- --short             # a sample of everything, as in CI
npm run proof:fuzz -- --seed 7       # one part, repeated
\`\`\`

A run prints its seed. A failure prints the events that lead to it and the command that repeats it.
The same seed draws the same inputs and faults. The simulator repeats every step as well; in the
other parts, processes and networks decide the order of what happens at the same time.

## What is tried, and with what result

| command | what it tries | what must hold | last full run | time |
| --- | --- | --- | --- | ---: |
${PARTS.map((part) => rowOf(part, results[part.name])).join('\n')}

Figures of these runs:

${figures.length > 0 ? figures.join('\n') : 'There was no full run yet.'}

The data is in \`docs/reliability.json\`. The mutants that survived are in
\`proof/mutation/survivors.json\`, each with a sentence that says why.

## What was found

We fix the whole class of a bug, and add a regression test.

| found by | seed | what happened | what changed | test |
| --- | ---: | --- | --- | --- |
${faults.join('\n')}

## What is not shown

- Fuzzing, faults and crashes are samples. They find faults; they do not exclude them.
- \`kill -9\` leaves the operating system running. That a commit survives a loss of power follows from
  \`synchronous=FULL\` of SQLite and \`fsync\` of PostgreSQL, and is not tried.
- All processes run on one machine: the network between nodes is a proxy.
`;
}
