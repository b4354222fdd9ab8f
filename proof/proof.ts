import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { recordResults, writePage } from './page.js';
import type { Part } from './part.js';
import { PARTS, STAGES } from './parts.js';
import type { Options, Report } from './run-part.js';

const HELP = `Usage: npm run proof [-- PART...] [-- OPTIONS]

Tries to break the promises of the service. Each part is a command of its own.

${PARTS.map(({ name, tries }) => `  npm run proof:${name}\n      ${tries}`).join('\n')}

Options:
  --short    a small sample of each part, as in CI
  --seed N   repeats a run (default: a new seed, which is printed)
  --path P   with --seed: repeats one failing case alone (printed with the failure)
  --page     writes docs/reliability.md from docs/reliability.json, and runs nothing
  --help     prints this text

A full run of a part writes its result to both files.
`;

const SEEDS = 0x7fff_ffff;
const CHILD = new URL('run-part.ts', import.meta.url);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The command that repeats a run, or one case of it. */
function replayOf({ name }: Part, { seed, isShort }: Options, path?: string): string {
  const options = [isShort ? '--short' : '', `--seed ${seed}`, path ? `--path "${path}"` : ''];
  return `npm run proof:${name} -- ${options.filter(Boolean).join(' ')}`;
}

async function runPart(part: Part, options: Options): Promise<Report> {
  say(`[${part.name}] seed ${options.seed}`);
  const child = fork(CHILD, [part.name, JSON.stringify(options)]);
  let report: Report = { tried: 'nothing', figures: {}, faults: ['the part crashed'], seconds: 0 };
  child.on('message', (message) => (report = message as Report));
  await once(child, 'close');
  print(part, options, report);
  return report;
}

function print(part: Part, options: Options, { tried, figures, faults, path, seconds }: Report) {
  const lines = Object.entries(figures).map(([name, figure]) => `${name}: ${figure}`);
  lines.push(...faults.map((fault) => `FAULT: ${fault}`));
  lines.push(`${faults.length === 0 ? 'passed' : 'FAILED'}: ${tried} in ${seconds} s`);
  if (faults.length > 0) lines.push(`replay: ${replayOf(part, options, path)}`);
  for (const line of lines) say(`[${part.name}] ${line}`);
}

/** Runs those of the parts that are wanted, one after the other. */
async function runRow(row: readonly Part[], names: readonly string[], options: Options) {
  const ended: { name: string; report: Report }[] = [];
  for (const part of row) {
    const isWanted = names.length === 0 || names.includes(part.name);
    if (isWanted) ended.push({ name: part.name, report: await runPart(part, options) });
  }
  return ended;
}

/** @returns the names of the parts that found a fault */
async function runParts(names: readonly string[], options: Options): Promise<string[]> {
  const failed: string[] = [];
  const isWhole = !options.isShort && options.path === undefined;
  for (const stage of STAGES) {
    const ended = await Promise.all(stage.map((row) => runRow(row, names, options)));
    for (const { name, report } of ended.flat()) {
      if (report.faults.length > 0) failed.push(name);
      if (isWhole) await recordResults(name, { ...report, seed: options.seed });
    }
  }
  return failed;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      seed: { type: 'string' },
      path: { type: 'string' },
      page: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return say(HELP);
  if (values.page) return writePage();
  const unknown = positionals.filter((name) => PARTS.every((part) => part.name !== name));
  const seed = values.seed === undefined ? Date.now() % SEEDS : Number(values.seed);
  if (unknown.length > 0 || !Number.isInteger(seed)) {
    process.stderr.write(unknown.length > 0 ? `unknown part: ${unknown.join()}\n` : HELP);
    process.exitCode = 2;
    return;
  }
  const options = { seed, isShort: values.short, path: values.path };
  const failed = await runParts(positionals, options);
  if (failed.length > 0) process.exitCode = 1;
  say(failed.length === 0 ? '\nNo promise was broken.' : `\nBroken: ${failed.join(', ')}`);
}

await main();
