import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { findEngine } from '../test/support/engines.js';
import { recordResult } from './page.js';
import type { Part, Result } from './part.js';
import { PARTS } from './parts.js';

const HELP = `Usage: npm run proof [-- PART...] [-- OPTIONS]

Tries to break the promises of the service. Each part is a command of its own.

${PARTS.map(({ name, promise }) => `  npm run proof:${name.padEnd(10)} ${promise}`).join('\n')}

Options:
  --short    a small sample of each part, as in CI
  --seed N   repeats a run (default: a new seed, which is printed)
  --path P   with --seed: repeats one failing case alone (printed with the failure)
  --help     prints this text

A full run of a part writes its result to docs/reliability.md and docs/reliability.json.
`;

const SEEDS = 0x7fff_ffff;

interface Options {
  seed: number;
  isShort: boolean;
  path?: string;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The command that repeats a run, or one case of it. */
function replayOf({ name }: Part, { seed, isShort }: Options, path?: string): string {
  const options = [isShort ? '--short' : '', `--seed ${seed}`, path ? `--path "${path}"` : ''];
  return `npm run proof:${name} -- ${options.filter(Boolean).join(' ')}`;
}

async function runPart(part: Part, options: Options): Promise<boolean> {
  say(`\n== ${part.name}, seed ${options.seed}: ${part.promise}`);
  const missing = part.needs.filter((engine) => findEngine(engine) === undefined);
  if (missing.length > 0) {
    say(`FAILED: this machine lacks ${missing.join(' and ')}; CONTRIBUTING.md lists the packages`);
    return false;
  }
  const startedAt = performance.now();
  const result = await part.run({ ...options, say }).catch(resultOf);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  report(part, options, result, seconds);
  if (!options.isShort && options.path === undefined) {
    await recordResult(part.name, { ...result, seed: options.seed, seconds });
  }
  return result.faults.length === 0;
}

/** A part that cannot end has found a fault too. */
function resultOf(error: unknown): Result {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { tried: 'nothing to the end', figures: {}, faults: [text] };
}

function report(part: Part, options: Options, result: Result, seconds: number): void {
  const { tried, figures, faults, path } = result;
  for (const [name, figure] of Object.entries(figures)) say(`   ${name}: ${figure}`);
  for (const fault of faults) say(`\nFAULT: ${fault}`);
  say(`${faults.length === 0 ? 'passed' : 'FAILED'}: ${tried} in ${seconds} s`);
  if (faults.length > 0) say(`replay: ${replayOf(part, options, path)}`);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      seed: { type: 'string' },
      path: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const unknown = positionals.filter((name) => PARTS.every((part) => part.name !== name));
  const seed = values.seed === undefined ? Date.now() % SEEDS : Number(values.seed);
  if (unknown.length > 0 || !Number.isInteger(seed)) {
    process.stderr.write(unknown.length > 0 ? `unknown part: ${unknown.join()}\n` : HELP);
    process.exitCode = 2;
    return;
  }
  const options = { seed, isShort: values.short, path: values.path };
  const chosen =
    positionals.length === 0 ? PARTS : PARTS.filter((p) => positionals.includes(p.name));
  const failed: string[] = [];
  for (const part of chosen) {
    if (!(await runPart(part, options))) failed.push(part.name);
  }
  if (failed.length > 0) process.exitCode = 1;
  say(failed.length === 0 ? '\nNo promise was broken.' : `\nBroken: ${failed.join(', ')}`);
}

await main();
