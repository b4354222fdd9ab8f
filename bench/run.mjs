// `npm run bench`: side by side, interleaved, in one run on one machine. All figures are ratios: the
// machine's own speed cancels out.
import { writeFileSync } from 'node:fs';
import { HELP, readArguments, UsageError } from './arguments.mjs';
import { onPostgres, onSqlite } from './contests.mjs';
import { fieldHere } from './field/field.mjs';
import { growth } from './growth/growth.mjs';
import { assertCapable, describeMachine, versions } from './machine.mjs';
import { drawChart } from './page/chart.mjs';
import { readNotes } from './page/notes.mjs';
import { writePage } from './page/page.mjs';
import { panelsOf } from './page/panels.mjs';
import { PACES, root } from './settings.mjs';
import { Stage } from './stage.mjs';

const EVERY_PROGRAM = ['wrk', 'taskset', 'initdb', 'redis-server'];
const EVERY_PACKAGE = ['bench', 'bench/directus'];

async function quick(stage) {
  await onSqlite(stage, PACES.quick, []);
}

async function one(stage, part) {
  if (part === 'sqlite') await onSqlite(stage, PACES.short, fieldHere());
  else if (part === 'growth') await growth(stage, PACES.short, { full: false });
  else await onPostgres(stage, PACES.short, [part]);
}

async function everything(stage) {
  const began = performance.now();
  const sqlite = await onSqlite(stage, PACES.full, fieldHere());
  const { postgres, redis } = await onPostgres(stage, PACES.full, ['postgres', 'redis']);
  const grown = await growth(stage, PACES.full, { full: true });
  const minutes = (performance.now() - began) / 60_000;
  const results = { sqlite, postgres, redis, growth: grown, minutes };
  const context = { pace: PACES.full, machine: describeMachine(), versions: versions() };
  writeFileSync(
    `${root}docs/performance.md`,
    writePage(results, { ...context, notes: readNotes() }),
  );
  writeFileSync(`${root}docs/performance.svg`, drawChart(panelsOf(results)));
}

async function main() {
  const options = readArguments(process.argv.slice(2));
  if (options.help) return void console.log(HELP);
  assertCapable(
    options.quick
      ? { programs: ['wrk', 'taskset'], packages: [] }
      : { programs: EVERY_PROGRAM, packages: EVERY_PACKAGE },
  );
  const stage = new Stage();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => void stage.close().finally(() => process.exit(1)));
  }
  try {
    if (options.quick) await quick(stage);
    else if (options.only !== undefined) await one(stage, options.only);
    else await everything(stage);
  } finally {
    await stage.close();
  }
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
