// The duties of the programs in JavaScript: a cached key lookup by digest, two counters per client,
// links, an ETag, an access line by pino, a latency histogram by prom-client.
import { hash } from 'node:crypto';
import { destination, pino } from 'pino';
import { Histogram } from 'prom-client';
import { openStorage } from './storage.mjs';

const [, , databaseUrl, listensOn, address] = process.argv;
export const port = Number(listensOn);
export const storage = await openStorage(databaseUrl);
export const base = `${address}/v1`;
export const deprecation = {
  deprecation: '@1764892800',
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: `<${base}/pets>; rel="successor-version", <${address}/docs>; rel="deprecation"; type="text/html"`,
};
const callers = new Map();
const counters = new Map();
const log = pino(
  { base: { service: 'field' }, formatters: { level: (level) => ({ level }) } },
  destination({ dest: 1, sync: false, minLength: 4_096, periodicFlush: 200 }),
);

/** With the labels and buckets of the service. */
const durations = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the request line to the last byte of the response.',
  labelNames: ['operation', 'method', 'status'],
  buckets: [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ],
});

/** SQLite is synchronous and does not pay for promises. */
export function then(value, next) {
  return value instanceof Promise ? value.then(next) : next(value);
}

export function callerOf(authorization) {
  if (!authorization?.startsWith('Bearer ')) return undefined;
  const digest = hash('sha256', authorization.slice(7), 'base64url');
  const known = callers.get(digest);
  if (known !== undefined) return known;
  return then(storage.findKey(digest), (caller) => {
    if (!caller) return undefined;
    caller.policy = policyOf(caller);
    callers.set(digest, caller);
    return caller;
  });
}

/** The id after which a page begins; NaN if the cursor is invalid. */
export function positionOf(cursor) {
  return cursor === undefined ? 0 : Number(Buffer.from(cursor, 'base64url'));
}

/** Removes the row beyond the page, if there is one, and links to the page that begins with it. */
export function linkToNext(rows, limit) {
  if (rows.length <= limit) return undefined;
  rows.pop();
  const next = Buffer.from(String(rows.at(-1).id)).toString('base64url');
  return `<${base}/pets?limit=${limit}&cursor=${next}>; rel="next"`;
}

export function withoutNull(row) {
  if (row.status === null) delete row.status;
  return row;
}

export function tagOf(body) {
  return `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}

/** Counts the latency of one request, and writes its access line. */
export function record({ requestId, keyId, method, operation }, { statusCode, elapsedTime }) {
  const labels = { operation, method, status: statusCode };
  durations.observe(labels, elapsedTime / 1000);
  const durationMs = Math.round(elapsedTime * 100) / 100;
  log.info({ requestId, keyId, ...labels, durationMs }, 'request');
}

/** The RateLimit-Policy header, which is constant for a caller. */
function policyOf({ perMinute, perDay }) {
  return `"minute";q=${perMinute};w=60,"day";q=${perDay};w=86400`;
}

/**
 * Counts a request unless a window is full.
 * @returns {{admitted: boolean, headers: Record<string, string | number>}}
 */
export function take({ subject, perMinute, perDay, policy }) {
  const nowMs = Date.now();
  const minute = Math.floor(nowMs / 60_000);
  const day = Math.floor(nowMs / 86_400_000);
  let counter = counters.get(subject);
  if (counter === undefined) {
    counter = { minute, inMinute: 0, day, inDay: 0 };
    counters.set(subject, counter);
  }
  if (counter.minute !== minute) [counter.minute, counter.inMinute] = [minute, 0];
  if (counter.day !== day) [counter.day, counter.inDay] = [day, 0];
  const admitted = counter.inMinute < perMinute && counter.inDay < perDay;
  if (admitted) {
    counter.inMinute++;
    counter.inDay++;
  }
  const [minuteLeft, dayLeft] = [perMinute - counter.inMinute, perDay - counter.inDay];
  const [minuteReset, dayReset] = [(minute + 1) * 60, (day + 1) * 86_400];
  const byMinute = minuteLeft < dayLeft;
  const until = (reset) => Math.ceil(reset - nowMs / 1000);
  const headers = {
    'x-ratelimit-limit': byMinute ? perMinute : perDay,
    'x-ratelimit-remaining': byMinute ? minuteLeft : dayLeft,
    'x-ratelimit-reset': byMinute ? minuteReset : dayReset,
    'ratelimit-policy': policy,
    ratelimit: `"minute";r=${minuteLeft};t=${until(minuteReset)},"day";r=${dayLeft};t=${until(dayReset)}`,
  };
  return { admitted, headers };
}
