import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';

/** A connection that is silent for this time has nothing more to say. */
const SILENCE_MS = 2_000;
/** Between two parts of a message, so that they arrive in two packets. */
const GAP_MS = 5;

/**
 * A response as it stood on the wire.
 * @typedef {{status: number, head: string, body: string}} WireResponse `head`: the status line and
 *   fields; `body` in latin1
 */

/**
 * Sends bytes on a new connection, one part after the other.
 * @param {URL} base
 * @param {string[]} parts in latin1; the part `{continue}` waits for the response `100`
 * @param {{responses: number, heads?: boolean[], lingerMs?: number}} expected ends this long after
 *   so many final responses; `heads[i]`: response i belongs to a HEAD request
 * @returns {Promise<{responses: WireResponse[], interim: number[], closed: boolean, rest: string}>}
 *   `rest`: bytes that are no complete response
 */
export async function sendRaw(base, parts, { responses: count, heads = [], lingerMs = 0 }) {
  const socket = await open(base);
  let received = '';
  let closed = false;
  let wake = () => {};
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    received += chunk;
    wake();
  });
  // A server that rejects a message early resets the connection.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    closed = true;
    wake();
  });
  const until = async (isDone) => {
    while (!isDone() && !closed) {
      const silence = new AbortController();
      const timeout = sleep(SILENCE_MS, 'silent', { signal: silence.signal }).catch(() => '');
      const news = new Promise((resolve) => (wake = resolve));
      const outcome = await Promise.race([news, timeout]);
      silence.abort();
      if (outcome === 'silent') return;
    }
  };
  for (const part of parts) {
    if (closed) break;
    if (part === '{continue}') {
      await until(() => parseWire(received, heads).interim.length > 0 || received.length > 12);
    } else {
      socket.write(part, 'latin1');
      if (part !== parts.at(-1)) await sleep(GAP_MS);
    }
  }
  await until(() => parseWire(received, heads).responses.length >= count);
  if (!closed && lingerMs > 0) await sleep(lingerMs);
  // The response may say that the server is about to close.
  const isClosing = closed || /^connection: close\r$/im.test(received);
  socket.destroy();
  return { ...parseWire(received, heads), closed: isClosing };
}

function open(base) {
  const isTls = base.protocol === 'https:';
  const host = base.hostname.replace(/^\[|\]$/g, '');
  const port = Number(base.port || (isTls ? 443 : 80));
  const socket = isTls
    ? connectTls({ host, port, servername: host })
    : connect({ host, port, noDelay: true });
  return new Promise((resolve, reject) => {
    socket.once(isTls ? 'secureConnect' : 'connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Splits what was received into responses. */
export function parseWire(received, heads = []) {
  const [responses, interim] = [[], []];
  let at = 0;
  while (at < received.length) {
    const headEnd = received.indexOf('\r\n\r\n', at);
    if (headEnd === -1) break;
    const head = received.slice(at, headEnd);
    const [, digits] = /^HTTP\/1\.[01] (\d{3})/.exec(head) ?? [];
    if (digits === undefined) break;
    const status = Number(digits);
    if (status < 200) {
      interim.push(status);
      at = headEnd + 4;
      continue;
    }
    const hasBody = !heads[responses.length] && status !== 204 && status !== 304;
    const end = hasBody ? endOfBody(received, head, headEnd + 4) : headEnd + 4;
    if (end === undefined) break;
    responses.push({ status, head, body: received.slice(headEnd + 4, end) });
    at = end;
  }
  return { responses, interim, rest: received.slice(at) };
}

/** The index after the body; undefined if it is incomplete. */
function endOfBody(received, head, start) {
  if (/^transfer-encoding:.*chunked/im.test(head)) {
    const end = received.indexOf('0\r\n\r\n', start);
    return end === -1 ? undefined : end + 5;
  }
  const [, length] = /^content-length: *(\d+)/im.exec(head) ?? [];
  // Without a length, the body ends with the connection.
  const end = length === undefined ? received.length : start + Number(length);
  return end > received.length ? undefined : end;
}
