import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Answer } from './client.js';

/** A connection without a response for this time hangs. */
const PATIENCE_MS = 15_000;
const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/;
const FIELD =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[\x21-\xff](?:[ \t\x21-\xff]*[\x21-\xff])?)?)$/;

/** Sends the parts on a new connection, one per tick; resolves to the bytes received until it is closed. */
export async function exchange(origin: string, parts: readonly Buffer[]): Promise<Buffer> {
  const { hostname, port } = new URL(origin);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  // The server may close the connection before everything is sent.
  socket.on('error', () => undefined);
  const timer = setTimeout(() => socket.destroy(new Error('hangs')), PATIENCE_MS);
  const closed = once(socket, 'close').catch(() => undefined);
  for (const part of parts) {
    if (socket.destroyed) break;
    socket.write(part);
    await nextTurn();
  }
  await closed;
  clearTimeout(timer);
  const bytes = Buffer.concat(received);
  if (socket.errored?.message === 'hangs') {
    throw new Error(`The connection hangs; it has answered ${shownBytes(bytes)}`);
  }
  return bytes;
}

/**
 * Sends bytes on a new connection; resolves to the bytes received once there are `answers` complete responses, including
 * interim ones, or the connection is closed.
 */
export async function sendRaw(
  origin: string,
  bytes: string | Buffer,
  answers = 1,
): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const timer = setTimeout(() => socket.destroy(new Error('hangs')), PATIENCE_MS);
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    if (countAnswers(received) >= answers) socket.destroy();
  });
  // The server may close the connection before everything is sent.
  socket.on('error', () => undefined);
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  clearTimeout(timer);
  if (received === '' || socket.errored?.message === 'hangs') {
    throw new Error(`No ${answers} answers: ${shownBytes(Buffer.from(received, 'latin1'))}`, {
      cause: socket.errored,
    });
  }
  return received;
}

function countAnswers(received: string): number {
  let count = 0;
  let end = endOfAnswer(received);
  for (; end !== undefined; end = endOfAnswer(received, end)) count++;
  return count;
}

/** The end of the response that begins at `start`, in latin1 characters; undefined while it is incomplete. */
export function endOfAnswer(received: string, start = 0): number | undefined {
  const headEnd = received.indexOf('\r\n\r\n', start);
  if (headEnd === -1) return undefined;
  const [, length] = /^content-length: (\d+)\r$/im.exec(received.slice(start, headEnd + 2)) ?? [];
  const end = headEnd + 4 + Number(length ?? 0);
  return end > received.length ? undefined : end;
}

/**
 * Parses responses strictly by RFC 9112. Interim responses (`100 Continue`) are left out.
 * @param isHead whether the request of a response was a HEAD
 * @throws if there are bytes that are not part of a complete response
 */
export function parseAnswers(
  bytes: Buffer,
  isHead: (index: number) => boolean = () => false,
): Answer[] {
  const answers: Answer[] = [];
  let rest = bytes.toString('latin1');
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) throw new Error(`A head without an end: ${JSON.stringify(rest)}`);
    const head = parseHead(rest.slice(0, end));
    rest = rest.slice(end + 4);
    if (head.status < 200) continue;
    const isBodiless = head.status === 204 || head.status === 304 || isHead(answers.length);
    const length = isBodiless ? 0 : lengthOf(head.headers);
    if (rest.length < length)
      throw new Error(`A body of ${rest.length} bytes, said to be ${length}`);
    const text = Buffer.from(rest.slice(0, length), 'latin1').toString('utf8');
    rest = rest.slice(length);
    answers.push({ ...head, text, json: () => JSON.parse(text) as unknown });
  }
  return answers;
}

function parseHead(head: string): Pick<Answer, 'status' | 'headers' | 'rawHeaders'> {
  const [line = '', ...fields] = head.split('\r\n');
  const [, status] = STATUS_LINE.exec(line) ?? [];
  if (status === undefined) throw new Error(`No status line: ${JSON.stringify(line)}`);
  const rawHeaders: string[] = [];
  const headers: IncomingHttpHeaders = {};
  for (const field of fields) {
    const [, name, value] = FIELD.exec(field) ?? [];
    if (name === undefined) throw new Error(`No header field: ${JSON.stringify(field)}`);
    rawHeaders.push(name, value!);
    headers[name.toLowerCase()] = value;
  }
  return { status: Number(status), headers, rawHeaders };
}

/** The service never uses chunks: it knows the length of every response. */
function lengthOf(headers: IncomingHttpHeaders): number {
  const length = headers['content-length'];
  if (length === undefined || !/^\d+$/.test(length) || 'transfer-encoding' in headers) {
    throw new Error(`The length of the body is unknown: ${JSON.stringify(headers)}`);
  }
  return Number(length);
}

/** Shortens repetitions for messages. */
export function shownBytes(bytes: Buffer): string {
  const text = bytes.toString('latin1').replace(/(.{1,6}?)\1{9,}/gs, (run, one: string) => {
    return `${one}<${run.length / one.length} times>`;
  });
  return JSON.stringify(text.slice(0, 4_000));
}
