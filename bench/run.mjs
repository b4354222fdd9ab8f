// `npm run bench`: compares programs on one machine, interleaved, so that the ratios do not depend on its speed.
import { HELP, readArguments, UsageError } from './arguments.mjs';
import { beside } from './beside.mjs';
import { check } from './check.mjs';
import { onPostgres, onSqlite } from './contests.mjs';
import { fieldHere } from './field/field.mjs';
import { growth } from './growth/growth.mjs';
import { assertCapable } from './machine.mjs';
import { publish } from './published.mjs';
import { PACES } from './settings.mjs';
import { Stage } from './stage.mjs';

const EVERY_PROGRAM = ['wrk', 'taskset', 'initdb', 'redis-server'];
const EVERY_PACKAGE = ['bench', 'bench/directus'];

async function quick(stage) {
  await onSqlite(stage, PACES.quick, []);
}

async function checked(stage) {
  const worse = await check(stage, PACES.quick);
  for (const line of worse) console.log(`slower: ${line}`);
  if (worse.length === 0)
    console.log('Nothing is more than 10 % slower than the published figures');
  else process.exitCode = 1;
}

async function one(stage, part, pace, full) {
  if (part === 'sqlite') return { sqlite: await onSqlite(stage, pace, fieldHere()) };
  if (part === 'growth') return { growth: await growth(stage, pace, { full }) };
  return onPostgres(stage, pace, [part]);
}

async function everything(stage) {
  const sqlite = await onSqlite(stage, PACES.full, fieldHere());
  const engines = await onPostgres(stage, PACES.full, ['postgres', 'redis']);
  const grown = await growth(stage, PACES.full, { full: true });
  publish({ sqlite, ...engines, growth: grown }, PACES.full);
}

function requirementsOf({ quick, check, beside: commit, only, publish: publishes }) {
  const isOnSqlite = quick || (commit !== undefined && only !== 'postgres');
  const isOfOurs = isOnSqlite || check || (only !== undefined && only !== 'sqlite');
  return {
    programs: isOnSqlite ? ['wrk', 'taskset'] : EVERY_PROGRAM,
    // The published page names their versions.
    packages: isOfOurs && !publishes ? [] : EVERY_PACKAGE,
  };
}

async function main() {
  const options = readArguments(process.argv.slice(2));
  if (options.help) return void console.log(HELP);
  assertCapable(requirementsOf(options));
  const stage = new Stage();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => void stage.close().finally(() => process.exit(1)));
  }
  try {
    if (options.quick) await quick(stage);
    else if (options.check) await checked(stage);
    else if (options.beside !== undefined)
      await beside(stage, PACES.quick, options.beside, options.only);
    else if (options.publish) publish(await one(stage, options.only, PACES.part, true), PACES.part);
    else if (options.only !== undefined) await one(stage, options.only, PACES.short, false);
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
