// Turns the files in data/ into checks.
import { readFileSync } from 'node:fs';
import { expand, faultsOf } from '../expectations.js';

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../data/${name}.json`, import.meta.url), 'utf8'));

/**
 * A check: what it asserts, what it costs, and how it is run.
 * @typedef {{name: string, level: string, sentence: string, source: string, rfc?: string,
 *   cost: Record<string, number>, needs?: string[], isObserver?: boolean,
 *   readyAt?: (context: import('../context.js').Context) => number,
 *   run: (context: import('../context.js').Context) => Promise<void>}} Check
 *   `cost`: requests by key; `needs`: optional inputs; `isObserver`: runs after the other checks of
 *   its level, because it judges their responses; `readyAt`: the time at which it can be run
 */

/** Requests in order, each with the response that it must get. @returns {Check[]} */
export function casesFrom(file) {
  return read(file).map(({ cases, ...check }) => ({
    ...check,
    cost: costOf(cases.map(({ send }) => send)),
    run: (context) => runCases(context, cases),
  }));
}

/** Properties of every response, and requests that cause such responses. @returns {Check[]} */
export function observersFrom(file) {
  return read(file).map(({ when, expect, samples, ...check }) =>
    observer({
      ...check,
      samples,
      isSubject: (exchange) =>
        (when.status === undefined || when.status.includes(exchange.status)) &&
        (when.methods === undefined || when.methods.includes(exchange.sent.method)),
      faults: (exchange) => faultsOf(exchange, expect),
    }),
  );
}

/**
 * A check of all responses so far. If none of them is a subject, it sends its samples.
 * @returns {Check}
 */
export function observer({ samples, isSubject, faults, ...check }) {
  return {
    ...check,
    isObserver: true,
    cost: costOf(samples),
    run: async (context) => {
      if (!context.exchanges.some(isSubject)) {
        for (const sample of samples) await sendCase(context, sample);
      }
      const subjects = context.exchanges.filter(isSubject);
      if (subjects.length === 0) context.skip('no response of this kind was received');
      for (const exchange of subjects) {
        for (const fault of faults(exchange)) context.expect(false, fault, exchange);
      }
    },
  };
}

function costOf(sends) {
  const cost = {};
  for (const send of sends) {
    const { key = 'main' } = send;
    cost[key] = (cost[key] ?? 0) + 1;
    if (JSON.stringify(send).includes('{pet}')) cost.pet = 1;
  }
  // The pet is created by the first check that needs one.
  if (cost.pet) cost.main = (cost.main ?? 0) + 1;
  delete cost.pet;
  return cost;
}

async function runCases(context, cases) {
  const unique = context.unique('conformance');
  for (const { send, expect } of cases) {
    const exchange = await sendOnce(context, send, unique);
    for (const fault of faultsOf(exchange, expect)) context.expect(false, fault, exchange);
  }
}

/** A request that was rejected before is not repeated: a small plan has few requests. */
async function sendOnce(context, send, unique) {
  const name = `rejected:${JSON.stringify(send)}`;
  if (context.memory.has(name)) return context.memory.get(name);
  const exchange = await sendCase(context, send, unique);
  const { status } = exchange;
  if (status >= 400 && status < 429 && !name.includes('{unique}')) {
    context.memory.set(name, exchange);
  }
  return exchange;
}

async function sendCase(context, send, unique = context.unique('conformance')) {
  const values = { unique, mainKey: context.keys.main };
  if (JSON.stringify(send).includes('{pet}')) {
    values.pet = String((await context.pet()).json.id);
  }
  const fill = (text) => (text === null ? null : expand(text, values));
  const headers = Object.fromEntries(
    Object.entries(send.headers ?? {}).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(fill) : fill(value),
    ]),
  );
  const { path, method = 'GET', body, key } = send;
  const bytes = send.base64 === undefined ? undefined : Buffer.from(send.base64, 'base64');
  return context.send(fill(path), {
    method,
    headers,
    body: body === undefined ? bytes : fill(body),
    ...(key !== undefined && { key }),
    ...(send.belowTheApi === true && { isObserved: false }),
  });
}
