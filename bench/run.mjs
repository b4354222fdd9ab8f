// `npm run bench`; see README.md, which is the text of `--help`.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { beside } from './beside.mjs';
import { FASTIFY, FIELD, GO, SERVICE, startable, TUTORIAL, TWO_CORES } from './field/field.mjs';
import { areMet, goalsOf } from './goals.mjs';
import { growth } from './growth/growth.mjs';
import { nodes } from './growth/nodes.mjs';
import { latency } from './latency.mjs';
import { missingPrograms } from './lib/machine.mjs';
import { isOnCurrent, runOnCurrent } from './lib/runtime.mjs';
import { Stage } from './lib/stage.mjs';
import { publish } from './page.mjs';
import { race } from './race.mjs';
import { FULL, LONG_OPEN_SECONDS, root, shortPace } from './settings.mjs';

const OPTIONS = {
  only: { type: 'string' },
  publish: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  beside: { type: 'string' },
  seconds: { type: 'string' },
  help: { type: 'boolean', default: false },
};

/** In the order of a full run. */
const PARTS = {
  sqlite: (stage, pace, field) => race(stage, pace, 'sqlite', field),
  postgres: (stage, pace, field) => race(stage, pace, 'postgres', field),
  latency: (stage, pace) => latency(stage, pace, startable([SERVICE, TWO_CORES, GO])),
  growth,
  nodes,
};
const NEEDS = { postgres: ['initdb'], latency: ['initdb'], nodes: ['initdb', 'redis-server'] };

function readOptions() {
  const { values: options } = parseArgs({ options: OPTIONS });
  const { only, beside: commit, seconds } = options;
  const parts = commit === undefined ? Object.keys(PARTS) : ['sqlite', 'postgres'];
  if (only !== undefined && !parts.includes(only)) {
    throw new Error(`--only must be one of ${parts.join(', ')}, not ${only}`);
  }
  if (seconds !== undefined && !/^[1-9]\d?$/.test(seconds)) {
    throw new Error(`--seconds must be an integer between 1 and 99, not ${seconds}`);
  }
  if (options.publish && only === undefined) throw new Error('--publish requires --only');
  return options;
}

/** @returns the goals of everything that was measured */
async function measure({ only, publish: publishes, check, beside: commit, seconds }) {
  const pace = seconds === undefined ? { ...FULL } : shortPace(Number(seconds));
  if (only === 'latency' && seconds === undefined) pace.openSeconds = LONG_OPEN_SECONDS;
  const compare = (stage) => beside(stage, pace, commit, only ?? 'sqlite');
  if (commit !== undefined) return goalsOf('beside', await onStage(compare));
  // The goals compare with these programs alone.
  const field = startable(check ? [SERVICE, FASTIFY, GO, TUTORIAL] : FIELD);
  const isWhole = only === undefined && seconds === undefined;
  const goals = [];
  for (const part of only === undefined ? Object.keys(PARTS) : [only]) {
    const results = await onStage((stage) => PARTS[part](stage, pace, field));
    goals.push(...goalsOf(part, results));
    // Each part is published once it is measured.
    if (publishes || (isWhole && !check)) publish(part, results);
  }
  return goals;
}

async function main() {
  const options = readOptions();
  if (options.help) return void console.log(readFileSync(`${root}bench/README.md`, 'utf8'));
  if (!isOnCurrent()) {
    process.exitCode = runOnCurrent(process.argv.slice(1));
    return;
  }
  const { only = options.beside && 'sqlite', check } = options;
  const needs = only === undefined ? Object.values(NEEDS).flat() : (NEEDS[only] ?? []);
  const missing = missingPrograms(['wrk', 'taskset', ...new Set(needs)]);
  if (missing.length > 0) throw new Error(`The bench requires ${missing.join(', ')}`);
  const goals = await measure(options);
  if (check && !areMet(goals)) process.exitCode = 1;
}

/** Each part has a stage of its own: another one may have files of the same names. */
async function onStage(work) {
  const stage = new Stage();
  const abort = () => void stage.close().finally(() => process.exit(1));
  process.on('SIGINT', abort).on('SIGTERM', abort);
  try {
    return await work(stage);
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort);
    await stage.close();
  }
}

await main().catch(({ message }) => {
  console.error(message);
  process.exitCode = 1;
});
