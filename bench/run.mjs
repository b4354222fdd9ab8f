// `npm run bench`: compares programs on one machine, interleaved, so that the ratios do not depend on its speed.
import { HELP, readArguments, UsageError } from './arguments.mjs';
import { beside } from './beside.mjs';
import { check } from './check.mjs';
import { race } from './contests.mjs';
import { FASTIFY, fieldHere, SERVICE, UNGUARDED } from './field/field.mjs';
import { growth } from './growth/growth.mjs';
import { assertCapable } from './machine.mjs';
import { publish } from './published.mjs';
import { PACES } from './settings.mjs';
import { Stage } from './stage.mjs';

/** The parts of a full run. */
const PARTS = {
  sqlite: (stage, pace) => race(stage, pace, 'sqlite', [...fieldHere(), UNGUARDED]),
  postgres: (stage, pace) => race(stage, pace, 'postgres', fieldHere()),
  growth: (stage, pace) => growth(stage, pace, { full: pace === PACES.full }),
};

async function checked(stage) {
  const worse = await check(stage, PACES.quick);
  for (const line of worse) console.log(`slower: ${line}`);
  if (worse.length === 0)
    console.log('Nothing is more than 10 % slower than the published figures');
  else process.exitCode = 1;
}

/** Each part is published once it is measured. */
async function measure(stage, parts, pace, publishes) {
  for (const part of parts) {
    const results = await PARTS[part](stage, pace);
    if (publishes) publish({ [part]: results }, pace);
  }
}

function requirementsOf({ quick, only, beside: commit }) {
  const isOnSqlite = quick || only === 'sqlite' || only === 'growth';
  const needsPostgres = commit === undefined ? !isOnSqlite : only === 'postgres';
  return ['wrk', 'taskset', ...(needsPostgres ? ['initdb'] : [])];
}

async function main() {
  const options = readArguments(process.argv.slice(2));
  if (options.help) return void console.log(HELP);
  assertCapable(requirementsOf(options));
  const stage = new Stage();
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => void stage.close().finally(() => process.exit(1)));
  }
  const { quick, check: checks, beside: commit, only, publish: publishes } = options;
  try {
    if (quick) await race(stage, PACES.quick, 'sqlite', [SERVICE, FASTIFY]);
    else if (checks) await checked(stage);
    else if (commit !== undefined) await beside(stage, PACES.quick, commit, only);
    else if (only !== undefined)
      await measure(stage, [only], publishes ? PACES.full : PACES.short, publishes);
    else await measure(stage, Object.keys(PARTS), PACES.full, true);
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
