import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiError } from '../errors/api-error.js';
import { errors, notFound } from '../errors/errors.js';
import {
  type ApiReply,
  type ApiRequest,
  refuseTarget,
  type UnreadBody,
} from './request-context.js';
import type { RouteTable } from './route-table.js';
import { isApiTarget, pathOf } from './target.js';

/** What it takes to refuse a request that reaches no route. */
export interface Judge {
  /** Who are you, how much may you: sets the headers. @throws {ApiError} 401, 503 or 429 */
  judge(request: ApiRequest, reply: ApiReply): Promise<void>;
  /** How much may an address ask of what is open to everyone. @throws {ApiError} 429 */
  admit(request: ApiRequest): Promise<void>;
  sendError(error: unknown, request: ApiRequest, reply: ApiReply): void;
}

/** What is wrong with a request that no operation answers: its method where there is such a resource. */
export function unserved({ method, url }: ApiRequest, routes: RouteTable): ApiError {
  const allowed = routes.methodsOf(pathOf(url));
  if (allowed.length === 0) return notFound();
  return errors.method_not_allowed(`The resource has no method ${method}`, {
    headers: { Allow: allowed.join(', ') },
  });
}

/** Refuses what no route answers. Whoever asks is judged first, as by the guards of a route beside it. */
export async function refuseUnrouted(
  application: Judge,
  error: unknown,
  request: ApiRequest,
  reply: ApiReply,
): Promise<void> {
  try {
    if (!isApiTarget(request.url)) await application.admit(request);
    // Whom Nest finds in a route that does not match after all may have been judged there.
    else if (!request.isJudged) await application.judge(request, reply);
    refuseTarget(request);
    throw error;
  } catch (refusal) {
    application.sendError(refusal, request, reply);
  }
}

/**
 * Judges who has come to no guard below `/v1`, since something threw before: a middleware of a guest, or a hook.
 * @returns false where the caller is refused, and answered
 */
export async function admitsUnguarded(
  application: Pick<Judge, 'judge' | 'sendError'>,
  request: ApiRequest,
  reply: ApiReply,
): Promise<boolean> {
  // The first of the guards that may refuse says what operation it is.
  if (request.operation !== undefined || !isApiTarget(request.url)) return true;
  try {
    await application.judge(request, reply);
    return true;
  } catch (refusal) {
    application.sendError(refusal, request, reply);
    return false;
  }
}

/** What Node says of a message that it could not read. */
interface Unreadable extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
  /** How much of the packet it has read. */
  bytesParsed?: number;
}
/** As far as the target is read. No field has a space within its name. */
const BEGUN_REQUEST_LINE = /^[A-Z-]+ \S+$/;

/** Node tells again of each packet behind what it could not read. */
const broken = new WeakSet<Socket>();

/**
 * Node could not read the message, or it did not arrive in time.
 * @param reply to the latest request that arrived on the connection
 * @param answered told of an answer to what has become no request
 */
export function answerBroken(
  error: Unreadable,
  socket: Socket,
  reply: ApiReply | undefined,
  answered: (refusal: ApiError, requestId: string) => void,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  if (broken.has(socket)) return;
  broken.add(socket);
  const refusal = toRefusal(error);
  // What broke is the next request, or the remains of one that was answered without waiting for them.
  const conclude = (): void => {
    if (reply === undefined || reply.request.raw.complete) {
      answered(refusal, writeError(socket, refusal));
    } else {
      socket.destroySoon();
    }
  };
  if (reply === undefined || reply.raw.writableFinished) {
    conclude();
  } else if (reply.sent || reply.request.raw.complete) {
    reply.raw.once('finish', conclude);
  } else {
    // The body is what broke: whoever comes to read it is told, unless the request is refused before.
    const body: UnreadBody = reply.request.raw;
    reply.header('connection', 'close');
    reply.raw.once('finish', () => socket.destroySoon());
    body.failure = refusal;
    body.fail?.(refusal);
  }
}

function toRefusal(error: Unreadable): ApiError {
  const cause = { cause: error };
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return errors.request_timeout('The request did not arrive in time', cause);
    case 'HPE_HEADER_OVERFLOW':
      if (isInTarget(error)) return errors.uri_too_long('The request target is too long', cause);
      return errors.header_fields_too_large('The header fields are too large', cause);
    default:
      return errors.malformed_request('The request is not well-formed HTTP', cause);
  }
}

/**
 * Whether the target alone is too large for a head. Where it came in many packets, the one at which Node gave up
 * may not tell it from a field.
 */
function isInTarget({ rawPacket, bytesParsed = 0 }: Unreadable): boolean {
  if (rawPacket === undefined) return false;
  const read = rawPacket.toString('latin1', 0, bytesParsed);
  const line = read.slice(read.lastIndexOf('\n') + 1);
  const next = rawPacket.toString('latin1', bytesParsed, bytesParsed + ' HTTP/'.length);
  return BEGUN_REQUEST_LINE.test(line) || next === ' HTTP/';
}

/** For a message of which there is no request, and so no reply to send; returns the id that it is given. */
export function writeError(socket: Socket, error: ApiError): string {
  const body = error.toBody();
  const requestId = randomUUID();
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${requestId}\r\n` +
      'X-Content-Type-Options: nosniff\r\n' +
      `Date: ${new Date().toUTCString()}\r\n` +
      `Connection: close\r\n\r\n${body}`,
    () => socket.destroySoon(),
  );
  return requestId;
}
