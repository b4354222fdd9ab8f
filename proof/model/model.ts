import { inspect } from 'node:util';
import fc from 'fast-check';
import { findEngine } from '../../test/support/engines.js';
import { PostgresServer } from '../../test/support/postgres.js';
import { casesOf, inWords, type Part, type Result, type Run } from '../part.js';
import {
  Ban,
  ChangePlan,
  Create,
  Disable,
  Enable,
  EndBan,
  Exhaust,
  Get,
  List,
  type Model,
  Restart,
  Revoke,
  Rotate,
} from './commands.js';
import { AMPLE, System } from './system.js';

/** On both engines together. */
const SEQUENCES = { full: 5_000, short: 12 };
const LONGEST = 25;
/** So that lists have several pages from the beginning. */
const FIRST_PETS = 30;
/**
 * Systems at the same time, each with its own database and sequences of its own: most of the time
 * of a sequence is the wait for a change of a key to take effect.
 */
const SYSTEMS = { full: 24, short: 8 };

const status = fc.constantFrom(undefined, 'available', 'sold');
const pet = fc.record({
  name: fc.constantFrom('Rex', '"Ünïcode\\ 🐕'),
  categoryId: fc.constant(7),
  status,
});
const idempotencyKey = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined });
const terms = fc.oneof(
  fc.constant({ plan: 'business' }),
  fc.nat(9).map((more) => Object.assign({}, AMPLE, { perMinute: 100_000 + more })),
);

const WEIGHTED = [
  [16, fc.record({ pet, idempotencyKey }).map((input) => new Create(input))],
  [8, fc.record({ status, limit: fc.integer({ min: 1, max: 20 }) }).map((to) => new List(to))],
  [8, fc.nat(50).map((index) => new Get(index))],
  [4, fc.constant(new Rotate())],
  [2, fc.constant(new Revoke())],
  [2, fc.constant(new Disable())],
  [6, fc.constant(new Enable())],
  [2, terms.map((input) => new ChangePlan(input))],
  [2, fc.integer({ min: 1, max: 5 }).map((limit) => new Exhaust(limit))],
  [2, fc.constant(new Ban())],
  [2, fc.record({ isLifted: fc.boolean() }).map((input) => new EndBan(input))],
  [1, fc.constant(new Restart())],
] as const;
const command = fc.oneof(
  ...WEIGHTED.map(([weight, arbitrary]) => ({
    weight,
    arbitrary: arbitrary as fc.Arbitrary<fc.AsyncCommand<Model, System>>,
  })),
);
const commands = fc.commands([command], { maxCommands: LONGEST });

async function check(run: Run, sequences: number, server?: PostgresServer) {
  await using system = await System.start(server);
  const pets: Model['pets'] = [];
  const create = new Create({ pet: { name: 'Rex', categoryId: 7 }, idempotencyKey: undefined });
  const first = Object.assign({ pets }, await system.newClient());
  for (let count = 0; count < FIRST_PETS; count++) await create.run(first, system);
  const property = fc.asyncProperty(commands, async (sequence) => {
    // A new client for each sequence; pets belong to the store.
    const model = Object.assign({ pets }, await system.newClient());
    await fc.asyncModelRun(() => ({ model, real: system }), sequence);
  });
  const unknown = property as fc.IAsyncPropertyWithHooks<unknown>;
  // Not shrunk: a change that takes no effect costs each attempt the whole patience.
  const cases = Object.assign({ endOnFailure: true }, casesOf(run, sequences));
  return await fc.check<unknown>(unknown, cases);
}

async function run(run: Run): Promise<Result> {
  await using postgres = await PostgresServer.start(findEngine('postgres')!);
  const form = run.isShort ? 'short' : 'full';
  const systems = SYSTEMS[form];
  const [only, path] = run.path?.split('/') ?? [];
  const indexes = Array.from({ length: systems }, (_, index) => index);
  const checks = indexes
    .filter((index) => only === undefined || index === Number(only))
    .map(async (index) => {
      const server = index % 2 === 0 ? undefined : postgres;
      const own = Object.assign({}, run, { seed: run.seed + index, path });
      return [index, await check(own, Math.ceil(SEQUENCES[form] / systems), server)] as const;
    });
  const ended = await Promise.all(checks);
  const tried = ended.reduce((sum, [, { numRuns }]) => sum + numRuns, 0);
  const failed = ended.filter(([, { failed: hasFailed }]) => hasFailed);
  const faults = failed.map(([index, { counterexample, errorInstance }]) => {
    const engine = index % 2 === 0 ? 'SQLite' : 'PostgreSQL';
    return `${engine}: ${String(counterexample)}\n${inspect(errorInstance)}`;
  });
  const [first] = failed;
  return {
    tried: `${inWords(tried)} sequences of up to ${LONGEST} commands, half on each engine`,
    figures: {},
    faults,
    ...(first !== undefined && { path: `${first[0]}/${first[1].counterexamplePath}` }),
  };
}

export const model: Part = {
  name: 'model',
  tries:
    'sequences of up to 25 commands (create, repeat, list by pages and filter, get, rotate, revoke, disable, enable, change of plan, ban and its end, use up a limit, restart), half of them on SQLite, half on PostgreSQL',
  holds: 'every response is the one that a model of 200 lines expects',
  needs: ['postgres'],
  run,
};
