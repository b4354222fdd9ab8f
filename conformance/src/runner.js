// Runs checks as soon as their keys have requests left, and waits for a window only when nothing
// else can be run.
import { OutOfQuota, Skipped } from './context.js';

/** A run ends after this time at the latest; checks that would have to wait longer are skipped. */
const LONGEST_RUN_MS = 115_000;
/** A window is over this long after its announced end. */
const AFTER_RESET_MS = 250;
const TOGETHER_MS = 2_000;
/** Exchanges shown of a failed check. */
const SHOWN = 4;
const FAULTS = 5;

const VARIABLES = {
  small: 'PETSTORE_SMALL_KEY is not set',
  read: 'PETSTORE_READ_KEY is not set',
  spare: 'PETSTORE_SPARE_KEY is not set',
  node: '--node is not given',
  proxy: '--proxy is not given',
};

/**
 * @param {import('./context.js').Context} context
 * @param {import('./checks/from-data.js').Check[]} checks
 * @param {(result: object) => void} onResult
 * @param {(seconds: number, count: number) => void} onWait
 */
export async function runChecks(context, checks, onResult, onWait) {
  const end = context.now() + LONGEST_RUN_MS;
  let pending = checks.map((check) => ({ check, attempts: 0 }));
  const has = {
    small: context.keys.small,
    read: context.keys.read,
    spare: context.keys.spare,
    node: context.nodes.length > 1,
    proxy: context.proxy,
  };
  const finish = (entry, result) => {
    pending = pending.filter((each) => each !== entry);
    onResult({ check: entry.check, ...result });
  };
  for (const entry of [...pending]) {
    const missing = (entry.check.needs ?? []).find((name) => !has[name]);
    if (missing !== undefined) finish(entry, skipped(VARIABLES[missing]));
  }
  while (pending.length > 0) {
    const times = pending.map(({ check }) => readyAt(context, check, pending));
    const next = times.findIndex((time) => time <= context.now());
    if (next === -1) {
      const first = Math.min(...times);
      const isExact = pending[times.indexOf(first)].check.readyAt !== undefined;
      // Windows of several keys end together, to the rounding of their headers.
      const together = times.filter((each) => each <= first + TOGETHER_MS);
      const time = isExact ? first : Math.max(...together) + AFTER_RESET_MS;
      if (time > end) {
        for (const entry of [...pending]) finish(entry, skipped(reasonOf(context, entry.check)));
        return;
      }
      onWait(Math.ceil((time - context.now()) / 1000), pending.length);
      context.http.close();
      await context.sleep(time - context.now());
      continue;
    }
    const entry = pending[next];
    entry.attempts++;
    const result = await runCheck(context, entry);
    if (result !== undefined) finish(entry, result);
  }
}

/** The time at which a check can be run. An observer waits for the other checks of its level. */
function readyAt(context, check, pending) {
  const isEarly =
    check.isObserver &&
    pending.some(({ check: other }) => other.level === check.level && !other.isObserver);
  if (isEarly) return Infinity;
  const times = Object.entries(check.cost).map(([key, cost]) => context.readyFor(key, cost));
  return Math.max(0, check.readyAt?.(context) ?? 0, ...times);
}

function reasonOf(context, { cost }) {
  const needs = Object.entries(cost)
    .filter(([key, count]) => context.readyFor(key, count) > 0)
    .map(([key, count]) => {
      const owner = key === 'none' ? 'this address without a key' : `the ${key} key`;
      return `needs ${count} requests of ${owner}, ${context.budgets.get(key).left} are left`;
    });
  return needs.join('; ') || 'would have to wait for another window';
}

const skipped = (reason) => ({ status: 'skipped', reason, faults: [], exchanges: [] });

/** @returns the result; undefined if the check must be repeated in the next window */
async function runCheck(context, { check, attempts }) {
  context.begin();
  try {
    await check.run(context);
  } catch (error) {
    if (error instanceof Skipped && context.faults.length === 0) return skipped(error.message);
    if (error instanceof OutOfQuota && attempts === 1) return undefined;
    const exchange = error instanceof OutOfQuota ? [error.exchange] : [];
    context.expect(error instanceof Skipped, describe(error), ...exchange);
  }
  const { faults } = context;
  const sent = { ...context.sentBy };
  if (faults.length === 0) return { status: 'passed', sent, faults: [], exchanges: [] };
  const named = faults.flatMap(({ exchanges }) => exchanges);
  const exchanges = [...new Set(named.length > 0 ? named : context.checkExchanges.slice(-2))];
  return {
    status: 'failed',
    sent,
    faults: [...new Set(faults.map(({ message }) => message))].slice(0, FAULTS),
    exchanges: exchanges.slice(0, SHOWN).map(String),
  };
}

function describe(error) {
  if (error.sent === undefined) return error instanceof OutOfQuota ? error.message : String(error);
  const { method, target } = error.sent;
  return `${method} ${target.slice(0, 80)}: ${error.message || error.code}`;
}
