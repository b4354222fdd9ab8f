import { readFileSync } from 'node:fs';
import { CHECKS, LEVELS } from './checks/index.js';
import { Context } from './context.js';
import { Http } from './http.js';
import { redactor } from './report.js';
import { runChecks } from './runner.js';

export { badge, junit, text } from './report.js';
export { LEVELS };

/** The version of the requirements. */
export const VERSION = '1.0';
const { version: SUITE } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

/** The requirement list: every check with its sentence. */
export function requirements() {
  const rows = CHECKS.map(({ name, level, sentence, source, rfc }) => ({
    name,
    level,
    sentence,
    source,
    ...(rfc !== undefined && { rfc }),
  }));
  return { version: VERSION, requirements: rows };
}

/** @throws {UsageError} */
export class UsageError extends Error {}

/**
 * Checks a deployment.
 * @param {import('./index.d.ts').Options} options
 * @returns {Promise<import('./index.d.ts').Report>}
 * @throws {UsageError}
 */
export async function runConformance(options) {
  const { now = Date.now, sleep = wait, onResult = () => {}, onWait = () => {} } = options;
  const { expectedFailures = {} } = options;
  const base = addressOf(options.url);
  const nodes = [base, ...(options.nodes ?? []).map(addressOf)];
  const proxy = options.proxy === undefined ? undefined : addressOf(options.proxy);
  const { main, small, read, spare } = options.keys;
  if (!main) throw new UsageError('set PETSTORE_KEY to a key of the deployment');
  const keys = { main, small, read, spare };
  const checks = selected(options);
  rejectUnknown(Object.keys(expectedFailures));
  const context = new Context({ base, nodes, proxy, keys, http: new Http(now), now, sleep });
  const [startedAt, results] = [now(), []];
  const redact = redactor(keys);
  let waitedSeconds = 0;
  try {
    await runChecks(
      context,
      checks,
      (result) => {
        const row = rowOf(result, redact, expectedFailures);
        results.push(row);
        onResult(row);
      },
      (seconds, count) => {
        waitedSeconds += seconds;
        onWait(seconds, count);
      },
    );
  } finally {
    context.http.close();
  }
  const order = new Map(CHECKS.map(({ name }, index) => [name, index]));
  results.sort((one, other) => order.get(one.name) - order.get(other.name));
  return {
    version: VERSION,
    suite: SUITE,
    url: base.href,
    startedAt: new Date(startedAt).toISOString(),
    durationMs: now() - startedAt,
    waitedSeconds,
    requests: context.requests,
    petsCreated: context.petsCreated,
    ok: results.every(({ status, isExpected }) => isFine(status, isExpected)),
    levels: Object.fromEntries(LEVELS.map((level) => [level, summaryOf(results, level)])),
    checks: results,
  };
}

/** A failure must be expected, a pass must not be. */
function isFine(status, isExpected) {
  return status === 'skipped' || (status === 'failed') === isExpected;
}

function rowOf({ check, status, reason, sent, faults, exchanges }, redact, expectedFailures) {
  const { name, level, sentence, source, rfc } = check;
  return {
    ...{ name, level, sentence, source },
    ...(rfc !== undefined && { rfc }),
    status,
    isExpected: name in expectedFailures,
    ...(sent !== undefined && { sent }),
    ...(reason !== undefined && { reason: redact(reason) }),
    ...(status === 'failed' && {
      faults: faults.map(redact),
      exchanges: exchanges.map(redact),
    }),
  };
}

function summaryOf(results, level) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const result of results) if (result.level === level) counts[result.status]++;
  return counts;
}

function selected({ levels, only }) {
  const wanted = levels ?? LEVELS;
  const unknown = wanted.find((level) => !LEVELS.includes(level));
  if (unknown !== undefined) {
    throw new UsageError(`unknown level ${unknown}: the levels are ${LEVELS.join(', ')}`);
  }
  if (only === undefined) return CHECKS.filter(({ level }) => wanted.includes(level));
  const chosen = CHECKS.filter(
    ({ name, level }) =>
      wanted.includes(level) && only.some((each) => name === each || name.startsWith(`${each}.`)),
  );
  if (chosen.length === 0)
    throw new UsageError(`no check of these levels has the name ${only.join(', ')}`);
  return chosen;
}

function rejectUnknown(names) {
  const unknown = names.find((name) => !CHECKS.some((check) => check.name === name));
  if (unknown !== undefined) throw new UsageError(`no check has the name ${unknown}`);
}

/** The base address, without a trailing slash. */
function addressOf(text) {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new UsageError(`${text} is no http or https address`);
  }
  const url = new URL(text);
  url.pathname = url.pathname.replace(/\/+$/, '');
  if (!url.pathname.endsWith('/v1')) {
    const example = `${url.origin}${url.pathname.replace(/\/$/, '')}/v1`;
    throw new UsageError(`/v1 is missing: the base address includes the version, as in ${example}`);
  }
  [url.search, url.hash] = ['', ''];
  return url;
}

function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
