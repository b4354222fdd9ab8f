import { STATUS_CODES, METHODS, type IncomingMessage, type ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import type { Config } from '../config/config.js';
import { ApiError } from './api-error.js';
import { Cors } from './cors.js';
import { GatheredResponse } from './gathered-response.js';
import { parseQuery } from './query.js';
import type { ApiReply, ApiRequest, UnreadBody } from './request-context.js';
import { requestIdOf } from './request-id.js';
import type { RouteTable } from './route-table.js';

/** What the transport asks of the application that is built upon it. */
export interface Application {
  /** Who are you, how much may you: sets the headers. @throws {ApiError} 401 or 429 */
  judge(request: ApiRequest, reply: ApiReply): Promise<void>;
  sendError(error: unknown, request: ApiRequest, reply: ApiReply): void;
  /** Called once the last byte of an answer is written, or its connection is gone. */
  answered(request: ApiRequest, status: number, elapsedMs: number): void;
  isDraining(): boolean;
}

/** The router must never refuse a path itself: the pipeline has its own bound on the whole target. */
const MAX_PARAMETER_LENGTH = 65_536;
/** How often Node looks for clients past their time. */
const TIMEOUT_CHECK_MS = 500;

interface ClientSocket extends Socket {
  /** The reply to the latest request that arrived on the connection. */
  [LATEST]?: ApiReply;
  /** The connection is closed after that reply. */
  [CLOSING]?: true;
}
const LATEST = Symbol('latest reply');
const CLOSING = Symbol('closing');

interface Response extends ServerResponse {
  [ANSWER]?: Answering;
}
interface Answering {
  application: Application;
  request: ApiRequest;
  reply: ApiReply;
  startedAtMs: number;
}
const ANSWER = Symbol('answer');

/**
 * Fastify, so that whatever arrives ends in the application's pipeline: bodies are left unread, every
 * method is routed, and what Node or Fastify would refuse in words of their own is refused in ours.
 */
export function createTransport(
  config: Config,
  routes: RouteTable,
  application: Application,
): FastifyInstance {
  const cors = new Cors(config.corsOrigins);

  const server = fastify({
    logger: false,
    genReqId: requestIdOf,
    requestTimeout: config.requestTimeoutSeconds * 1000,
    http: {
      ServerResponse: GatheredResponse,
      headersTimeout: config.headersTimeoutSeconds * 1000,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      requireHostHeader: false,
    },
    // Longer than the usual idle time of a load balancer, which must be the one to close.
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH, querystringParser: parseQuery },
    frameworkErrors: (error, request, reply) =>
      void answerUnroutable(application, error, request as ApiRequest, reply as ApiReply),
    clientErrorHandler: (error, socket) => answerBroken(error as NodeJS.ErrnoException, socket),
  });

  for (const method of METHODS) {
    // Without a body, as far as Fastify is concerned: the request pipe reads it, after the guards.
    if (method !== 'CONNECT') server.addHttpMethod(method, { overrideExisting: true });
  }
  server.addHook('onRoute', (route) => routes.add(route));
  server.decorateRequest('operation', undefined);
  server.addHook('onRequest', (request, reply, done) => {
    const socket: ClientSocket = request.raw.socket;
    // What is sent behind the last request that is answered must not be carried out (RFC 9112 section 9.6).
    if (socket[CLOSING]) return;
    socket[LATEST] = reply;
    tellWhenAnswered(application, request, reply);
    request.body = request.raw;
    reply.header('x-request-id', request.id);
    if (application.isDraining()) {
      reply.header('connection', 'close');
      socket[CLOSING] = true;
    }
    if (!cors.answersPreflight(request, reply)) done();
  });
  acceptAnyExpectation(server);
  return server;
}

/** Has the application told when the request is answered; Fastify's own hook for it costs twice as much. */
function tellWhenAnswered(application: Application, request: ApiRequest, reply: ApiReply): void {
  const response: Response = reply.raw;
  response[ANSWER] = { application, request, reply, startedAtMs: performance.now() };
  response.on('close', tellAnswered);
}

function tellAnswered(this: Response): void {
  const { application, request, reply, startedAtMs } = this[ANSWER]!;
  application.answered(request, reply.statusCode, performance.now() - startedAtMs);
}

/** `Expect` is judged like the rest of the request, and `100 Continue` sent when the body is wanted. */
function acceptAnyExpectation({ server }: FastifyInstance): void {
  // Node keeps 2,000 header fields and drops the rest, which may hold the key; the size is bounded.
  server.maxHeadersCount = 0;
  server.on('checkContinue', (message: UnreadBody, response: ServerResponse) => {
    if (hasBody(message)) message.acceptBody = () => response.writeContinue();
    else response.writeContinue();
    server.emit('request', message, response);
  });
  server.on('checkExpectation', (message: IncomingMessage, response: ServerResponse) =>
    server.emit('request', message, response),
  );
  server.on('connect', (_message, socket: Socket) =>
    writeError(socket, new ApiError('malformed_request', 'CONNECT is not served')),
  );
}

/** Nothing more comes of a request without one: its connection can go on, whatever it is answered. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** The router could not read the path; no hook has run. */
async function answerUnroutable(
  application: Application,
  error: Error,
  request: ApiRequest,
  reply: ApiReply,
): Promise<void> {
  tellWhenAnswered(application, request, reply);
  reply.header('x-request-id', request.id);
  await judgeAndRefuse(application, error, request, reply);
}

/** Refuses what no route answers. Whoever asks below `/v1` is judged first, as everywhere there. */
export async function judgeAndRefuse(
  application: Application,
  error: Error,
  request: ApiRequest,
  reply: ApiReply,
): Promise<void> {
  try {
    if (isApiTarget(request.raw.url!)) await application.judge(request, reply);
    throw error;
  } catch (refusal) {
    application.sendError(refusal, request, reply);
  }
}

/** Percent-escapes are undone where they can be, to see through `/%761/` as the router does. */
function isApiTarget(target: string): boolean {
  const path = target
    .replace(/^[a-z]+:\/\/[^/?]*/i, '')
    .replace(/%[2-7][0-9a-f]/gi, (escape) => String.fromCharCode(parseInt(escape.slice(1), 16)));
  return /^\/v1(?:[/?#]|$)/.test(path);
}

/** Node could not read the message, or it did not arrive in time. */
function answerBroken(error: NodeJS.ErrnoException, socket: ClientSocket): void {
  const reply = socket[LATEST];
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = toRefusal(error);
  // What broke is the next request, or the remains of one that was answered without waiting for them.
  const conclude = (): void => {
    if (reply === undefined || reply.request.raw.complete) writeError(socket, refusal);
    else socket.destroySoon();
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

function toRefusal(error: NodeJS.ErrnoException): ApiError {
  const cause = { cause: error };
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('request_timeout', 'The request did not arrive in time', cause);
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('header_fields_too_large', 'The header fields are too large', cause);
    default:
      return new ApiError('malformed_request', 'The request is not well-formed HTTP', cause);
  }
}

/** For a message of which there is no request, and so no reply to send. */
function writeError(socket: Socket, error: ApiError): void {
  const body = error.toBody();
  socket.end(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${randomUUID()}\r\n` +
      `Date: ${new Date().toUTCString()}\r\n` +
      `Connection: close\r\n\r\n${body}`,
    () => socket.destroySoon(),
  );
}
