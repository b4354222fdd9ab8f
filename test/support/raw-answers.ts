import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Answer } from './client.js';

/** A connection without a response for this time hangs. */
const PATIENCE_MS = 60_000;
const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t\x20-\xff]*)$/;

/**
 * Sends bytes on a new connection, one part per tick. Resolves to the bytes received (latin1) once
 * there are `answers` complete responses, including interim ones, or the connection is closed.
 */
export async function sendRaw(
  origin: string,
  parts: string | readonly Buffer[],
  answers = 1,
): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  const timer = setTimeout(() => socket.destroy(new Error('hangs')), PATIENCE_MS);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    if (countAnswers(received) >= answers) socket.destroy();
  });
  // The server may close the connection before everything is sent.
  socket.on('error', () => undefined);
  for (const part of [parts].flat()) {
    if (socket.destroyed) break;
    socket.write(part);
    await nextTick();
  }
  await closed;
  clearTimeout(timer);
  if (received === '' || socket.errored?.message === 'hangs') {
    throw new Error(`Fewer than ${answers} responses: ${shortened(received)}`);
  }
  return received;
}

function countAnswers(received: string): number {
  let count = 0;
  for (let end = endOfAnswer(received); end !== undefined; end = endOfAnswer(received, end)) {
    count++;
  }
  return count;
}

/**
 * The end of the response that begins at `start`, in latin1 characters; undefined while it is
 * incomplete.
 */
function endOfAnswer(received: string, start = 0): number | undefined {
  const headEnd = received.indexOf('\r\n\r\n', start);
  if (headEnd === -1) return undefined;
  const [, length] = /^content-length: (\d+)\r$/im.exec(received.slice(start, headEnd + 2)) ?? [];
  const end = headEnd + 4 + Number(length ?? 0);
  return end > received.length ? undefined : end;
}

/**
 * Parses responses to other methods than HEAD strictly. Interim responses (`100 Continue`) are left
 * out.
 * @throws if there are bytes that are not part of a complete response
 */
export function parseAnswers(received: string): Answer[] {
  const answers: Answer[] = [];
  for (let start = 0, end; start < received.length; start = end) {
    end = endOfAnswer(received, start);
    if (end === undefined) throw new Error(`Incomplete: ${shortened(received.slice(start))}`);
    const bodyStart = received.indexOf('\r\n\r\n', start) + 4;
    const [line = '', ...fields] = received.slice(start, bodyStart - 4).split('\r\n');
    const [, status] = STATUS_LINE.exec(line) ?? [];
    if (status === undefined) throw new Error(`No status line: ${JSON.stringify(line)}`);
    const rawHeaders = fields.flatMap((field) => {
      const [, name, value] = FIELD.exec(field) ?? [];
      if (name === undefined) throw new Error(`No header field: ${JSON.stringify(field)}`);
      return [name.toLowerCase(), value!];
    });
    const headers: IncomingHttpHeaders = {};
    for (let at = 0; at < rawHeaders.length; at += 2) headers[rawHeaders[at]!] = rawHeaders[at + 1];
    const text = Buffer.from(received.slice(bodyStart, end), 'latin1').toString('utf8');
    const answer = { status: Number(status), headers, rawHeaders, text };
    if (answer.status >= 200) answers.push({ ...answer, json: () => JSON.parse(text) as unknown });
  }
  return answers;
}

/** Shortens repetitions for messages. */
export function shortened(latin1: string): string {
  const text = latin1.replace(/(.{1,6}?)\1{9,}/gs, (run, one: string) => {
    return `${one}<${run.length / one.length} times>`;
  });
  return JSON.stringify(text.slice(0, 4_000));
}
