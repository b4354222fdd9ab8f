// HTTP/1.1 on raw sockets: messages of data/http.json and data/smuggling.json, byte for byte.
import { readFileSync } from 'node:fs';
import { expand } from '../expectations.js';
import { cut } from '../exchange.js';
import { sendRaw } from '../sockets.js';

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../data/${name}.json`, import.meta.url), 'utf8'));

/** A response to a hidden request arrives within this time after the others. */
const LINGER_MS = 100;

/** @type {import('./from-data.js').Check[]} */
export const httpChecks = [
  ...read('http').map(({ send, expect, cost = {}, ...check }) => ({
    ...check,
    cost,
    run: async (context) => {
      // The heads on the wire are not read for it.
      context.spend(cost);
      await runRaw(context, send, expect);
    },
  })),
  ...read('smuggling').map(({ send, ...check }) => ({
    ...check,
    cost: { none: 3 },
    needs: ['proxy'],
    run: (context) => runSmuggling(context, send),
  })),
];

/** Replaces what differs from server to server. */
function fillIn(context, base, text) {
  const values = {
    base: base.pathname,
    host: base.host,
    key: context.keys.main,
  };
  const filled = text.replace(/\{(base|host|key)\}/g, (_all, name) => values[name]);
  return expand(filled, { unique: context.unique('raw') });
}

async function runRaw(context, send, wanted) {
  const parts = send.map((part) => fillIn(context, context.base, part));
  const { responses: count = 1, heads = [] } = wanted;
  const result = await exchange(context, context.base, parts, { responses: count, heads });
  const { responses } = result;
  const shown = wireExchange(parts, result);
  const statuses = responses.map(({ status }) => status);
  if (responses.length === 0) {
    const isFine = wanted.orCloses === true && result.closed;
    context.expect(isFine, 'no response, and the connection stays open', shown);
    return;
  }
  context.petsCreated += statuses.filter((status) => status === 201).length;
  if (statuses[0] === 429 && !wanted.status.includes(429)) return void context.outOfQuota(shown);
  context.expect(
    statuses.every((status) => wanted.status.includes(status)),
    `expected status ${wanted.status.join(' or ')}, got ${statuses.join(', ')}`,
    shown,
  );
  context.expect(responses.length === count, `expected ${count} responses`, shown);
  if (heads.length > 0) context.expect(result.rest === '', 'bytes follow the responses', shown);
  if (wanted.closes === true) context.expect(result.closed, 'the connection stays open', shown);
  if (wanted.interim !== undefined) {
    context.expect(result.interim.includes(wanted.interim), `no ${wanted.interim}`, shown);
  }
  for (const [index, id] of (wanted.inOrder ?? []).entries()) {
    const isAtPlace = responses[index]?.head.toLowerCase().includes(`\r\nx-request-id: ${id}`);
    context.expect(isAtPlace, `response ${index + 1} is not the response to "${id}"`, shown);
  }
}

/**
 * Sends a message that hides a second request, then an ordinary request on the same and on another
 * connection. Nobody may get the response to the hidden request.
 */
async function runSmuggling(context, send) {
  const base = context.proxy;
  const marker = context.unique('after');
  const parts = send.map((part) => withLengths(fillIn(context, base, part)));
  const after = `GET ${base.pathname}/pets HTTP/1.1\r\nHost: ${base.host}\r\nX-Request-Id: ${marker}\r\n\r\n`;
  const first = await exchange(context, base, [...parts, after], {
    responses: 2,
    lingerMs: LINGER_MS,
  });
  const shown = wireExchange([...parts, after], first);
  const heads = first.responses.map(({ head }) => head.toLowerCase());
  const isHidden = !heads.some((head) => head.includes('\r\nx-request-id: smuggled'));
  context.expect(isHidden, 'the hidden request got a response', shown);
  context.expect(first.responses.length <= 2, 'two requests got three responses', shown);
  // What was left in a connection between the proxy and the server would reach the next caller.
  for (let count = 0; count < 2; count++) {
    const other = await exchange(context, base, [after], { responses: 1 });
    const [response] = other.responses;
    context.expect(
      response?.head.toLowerCase().includes(`\r\nx-request-id: ${marker}`),
      'the next caller got the response to another request',
      shown,
      wireExchange([after], other),
    );
  }
}

/** Counts the bytes of the body, and wraps a hidden request into a chunk. */
function withLengths(message) {
  const hidden = 'GET /smuggled HTTP/1.1\r\nX-Request-Id: smuggled\r\nContent-Length: 5\r\n\r\n';
  const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n`;
  const whole = message.replace('{chunk}', chunk);
  const body = whole.slice(whole.indexOf('\r\n\r\n') + 4);
  return whole.replace('{length}', String(body.length));
}

async function exchange(context, base, parts, expected) {
  context.requests += parts.length === 0 ? 0 : 1;
  return sendRaw(
    base,
    parts.map((part) => Buffer.from(part, 'utf8').toString('latin1')),
    expected,
  );
}

/** The bytes of both directions as a printable exchange. */
function wireExchange(parts, { responses, interim, rest, closed }) {
  const lines = parts.flatMap((part) => part.split(/(?<=\n)/)).map((line) => `> ${cut(line)}`);
  for (const status of interim) lines.push(`< ${status}`);
  for (const { head, body } of responses) {
    lines.push(...head.split('\r\n').map((line) => `< ${line}`));
    if (body !== '') lines.push(`< ${cut(body)}`);
  }
  if (rest !== '') lines.push(`< ${cut(rest)}`);
  if (closed) lines.push('< (closed)');
  return { toString: () => lines.join('\n') };
}
