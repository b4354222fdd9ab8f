import { AsyncResource } from 'node:async_hooks';
import { IncomingMessage, METHODS, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import type { Config } from '../config/config.js';
import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { isProbe } from '../telemetry/access-log.js';
import type { AdmissionQueue } from './admission-queue.js';
import { GatheredResponse } from './answers.js';
import { followConnections } from './connections.js';
import { Cors } from './cors.js';
import { sayNoLengthOfNothing } from './head-length.js';
import { Inlet } from './inlet.js';
import { acceptNamedWildcard } from './named-wildcard.js';
import { answerBroken, type Judge, refuseUnrouted, writeError } from './refusals.js';
import { type ApiReply, type ApiRequest, requestIdOf, type UnreadBody } from './request-context.js';
import type { RouteTable } from './route-table.js';
import { cutStalled } from './send-timeout.js';
import { decodableTarget } from './target.js';

/** What the transport asks of the application that is built upon it. */
export interface Application extends Judge {
  /** Called once the last byte of an answer is written, or its connection is gone. */
  readonly answered: ((request: ApiRequest, status: number, elapsedMs: number) => void)[];
  /** Called once an answer is sent to what could not be read, and so has become no request. */
  answeredUnread(refusal: ApiError, requestId: string, socket: Socket): void;
  readiness: { readonly isDraining: boolean };
}

/** The router must never refuse a path itself: the pipeline has its own bound on the whole target. */
const MAX_PARAMETER_LENGTH = 65_536;
/**
 * Longer than the usual idle time of a load balancer, which must be the one to close. No whole number of
 * seconds, and so never the time that a client has to take its answer.
 */
const KEEP_ALIVE_MS = 72_001;
/** How often Node looks for clients past their time. */
const TIMEOUT_CHECK_MS = 500;

interface Response extends ServerResponse {
  [ANSWER]?: Answering;
}
interface Answering {
  application: Application;
  line: AdmissionQueue;
  request: ApiRequest;
  reply: ApiReply;
  /** It is read to its end before and behind the answer: Node's own way takes three ticks, a twentieth of a get. */
  isBodiless: boolean;
  startedAtMs: number;
  /** For its turn to begin. */
  waitedMs: number;
}
const ANSWER = Symbol('answer');
/** Of a request of which nothing was answered when its client hung up: what others call it in their logs, too. */
const CLIENT_CLOSED_REQUEST = 499;

/**
 * Fastify, so that whatever arrives ends in the application's pipeline: bodies are left unread, every
 * method is routed, and what Node or Fastify would refuse in words of their own is refused in ours.
 */
export function createTransport(
  config: Config,
  routes: RouteTable,
  application: Application,
  line: AdmissionQueue,
  requestHeaders: readonly string[] = [],
): FastifyInstance {
  const { corsOrigins } = config;
  const cors = corsOrigins.length === 0 ? undefined : new Cors(corsOrigins, routes, requestHeaders);

  /** What every request has, routed or not; false where it is answered already. */
  function begins(request: ApiRequest, reply: ApiReply): boolean {
    const socket: ClientSocket = request.raw.socket;
    socket[LATEST] = reply;
    if (socket instanceof Inlet) socket.begins(request.raw, reply.raw);
    tellWhenAnswered(application, line, request, reply);
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    if (application.readiness.isDraining) reply.header('connection', 'close');
    return cors === undefined || !cors.answersPreflight(request, reply);
  }

  const server = fastify({
    logger: false,
    genReqId: requestIdOf,
    requestTimeout: config.requestTimeoutSeconds * 1000,
    // For the code of guests, as `@Ip()`: read from the fields where it asks.
    trustProxy: config.trustProxy,
    http: {
      IncomingMessage: PipelinedMessage,
      ServerResponse: GatheredResponse,
      headersTimeout: config.headersTimeoutSeconds * 1000,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      requireHostHeader: false,
    },
    keepAliveTimeout: KEEP_ALIVE_MS,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    // Routed, and refused behind the guards of who was asked for: the router would refuse it unjudged.
    rewriteUrl: ({ url }) => (url!.includes('%') ? decodableTarget(url!) : url!),
    frameworkErrors: (error, request, reply) => {
      // No hook has run.
      if (!begins(request, reply)) return;
      void refuseUnrouted(application, error, request, reply);
    },
    clientErrorHandler: (error, socket: ClientSocket) =>
      answerBroken(error as NodeJS.ErrnoException, socket, socket[LATEST], (refusal, requestId) =>
        application.answeredUnread(refusal, requestId, socket),
      ),
  });

  for (const method of METHODS) {
    // Without a body, as far as Fastify is concerned: the last of the guards reads it.
    if (method !== 'CONNECT') server.addHttpMethod(method, { overrideExisting: true });
  }
  server.addHook('onRoute', (route) => {
    acceptNamedWildcard(route);
    routes.add(route);
    sayNoLengthOfNothing(route);
  });
  server.decorateRequest('operation', undefined);
  server.decorateRequest('refusal', undefined);
  server.decorateRequest('isJudged', false);
  server.decorateRequest('rawBody', undefined);
  server.addHook('onRequest', (request, reply, done) => {
    if (!begins(request, reply)) return;
    // Whoever looks after the process is to see it, however many wait.
    if (isProbe(request.raw.url!)) return done();
    const answering = (reply.raw as Response)[ANSWER]!;
    const begin = (waitedMs: number): void => {
      // Whoever has hung up meanwhile is owed nothing.
      if (reply.raw.destroyed) return;
      answering.waitedMs = waitedMs;
      // That may have begun while it waited.
      if (application.readiness.isDraining) reply.header('connection', 'close');
      done();
    };
    // Who begins it is in the trace of whoever came first.
    line.join(config.tracing === undefined ? begin : AsyncResource.bind(begin));
  });
  server.addHook('preValidation', async (request) => {
    if (hasBody(request.raw)) request.body = await bufferBody(request.raw);
  });
  // Node keeps 2,000 header fields and drops the rest, which may hold the key; the size is bounded.
  server.server.maxHeadersCount = 0;
  acceptAnyExpectation(server);
  refuseConnect(server, application);
  followConnections(server.server);
  server.server.on('connection', (socket) => {
    // An `Inlet` is of a connection that was accepted before.
    if (!(socket instanceof Inlet)) line.accepted();
  });
  takeTurns(server.server);
  cutStalled(server.server, config.sendTimeoutSeconds * 1000);
  answerHalfClosed(server.server);
  return server;
}

/** How long the request had to wait among too many for its turn to begin. */
export function waitedMs({ raw }: ApiReply): number {
  return (raw as Response)[ANSWER]!.waitedMs;
}

/** Has the application told when the request is answered; Fastify's own hook for it costs twice as much. */
function tellWhenAnswered(
  application: Application,
  line: AdmissionQueue,
  request: ApiRequest,
  reply: ApiReply,
): void {
  const response: Response = reply.raw;
  const isBodiless = !hasBody(request.raw);
  if (isBodiless) request.raw.read(0);
  response[ANSWER] = {
    application,
    line,
    request,
    reply,
    isBodiless,
    startedAtMs: performance.now(),
    waitedMs: 0,
  };
  response.on('close', tellAnswered);
}

function tellAnswered(this: Response): void {
  const { application, line, request, reply, isBodiless, startedAtMs } = this[ANSWER]!;
  const { raw } = request;
  const socket: ClientSocket = raw.socket;
  if (raw.complete && socket[LATEST] === reply) {
    // An idle connection is not to keep what it is done with.
    socket[LATEST] = undefined;
    // An `Inlet` has a turn of its own to wait for, and whoever looks after the process is not to wait.
    const mayWait = !(socket instanceof Inlet) && !isProbe(raw.url!);
    if (socket.writable && mayWait) line.rest(socket);
  }
  if (isBodiless && !raw.readableEnded) raw.read();
  const status = this.headersSent ? reply.statusCode : CLIENT_CLOSED_REQUEST;
  const elapsedMs = performance.now() - startedAtMs;
  for (const tell of application.answered) tell(request, status, elapsedMs);
}

/** `Expect` is judged like the rest of the request, and `100 Continue` sent when the body is wanted. */
function acceptAnyExpectation({ server }: FastifyInstance): void {
  server.on('checkContinue', (message: UnreadBody, response: ServerResponse) => {
    if (hasBody(message)) message.acceptBody = () => response.writeContinue();
    else response.writeContinue();
    server.emit('request', message, response);
  });
  server.on('checkExpectation', (message: IncomingMessage, response: ServerResponse) =>
    server.emit('request', message, response),
  );
}

/** Node hands over the connection instead of a request. */
function refuseConnect({ server }: FastifyInstance, application: Application): void {
  server.on('connect', (_message, socket: ClientSocket) => {
    const refuse = (): void => {
      const refusal = errors.malformed_request('CONNECT is not served');
      application.answeredUnread(refusal, writeError(socket, refusal), socket);
    };
    const earlier = socket[LATEST]?.raw;
    if (earlier === undefined || earlier.closed) refuse();
    else earlier.once('close', refuse);
  });
}

/** Who has sent everything may close its side; Node has the property, and does not document it. */
function answerHalfClosed(server: Server & { httpAllowHalfOpen?: boolean }): void {
  server.httpAllowHalfOpen = true;
}

/** The largest body that a guard accepts has 64 KiB. */
const MAX_BUFFERED_BYTES = 65_537;

/** Reads the body into memory, up to the first byte beyond the limit; guards check and parse it later. */
function bufferBody(message: UnreadBody): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const brokenOff = (cause?: Error): ApiError =>
      errors.malformed_request('The body ended before it was complete', { cause });
    if (message.failure !== undefined) throw message.failure;
    message.fail = reject;
    message.acceptBody?.();
    const chunks: Buffer[] = [];
    let size = 0;
    message.on('data', (chunk: Buffer) => {
      if (size < MAX_BUFFERED_BYTES) chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_BUFFERED_BYTES) resolve(Buffer.concat(chunks));
    });
    message.on('end', () => resolve(Buffer.concat(chunks)));
    message.on('error', (cause) => reject(brokenOff(cause)));
    message.on('close', () => reject(brokenOff()));
    message.resume();
  });
}

/** Nothing more comes of a request without one: its connection can go on, whatever it is answered. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/**
 * One exchange at a time on a connection. Node begins every request that it reads, 64 KiB hold two
 * thousand of them, and what each costs is not given back before the client takes its answer.
 *
 * Whose requests come one by one is read by Node itself, and pays nothing for it. The first request that
 * comes before its turn is not begun: Node gives its connection up, as for a change of protocol, and from
 * then on reads it through an `Inlet`. So it does at the first offer to change the protocol: what comes in
 * one packet with the offer, Node would drop.
 */
export interface ClientSocket extends Socket {
  /** The reply to the latest request that was begun on the connection, until both have come to their ends. */
  [LATEST]?: ApiReply;
}
export const LATEST = Symbol('latest reply');

export class PipelinedMessage extends IncomingMessage {
  private comesEarly = false;

  /** Whether Node is to give up the connection instead of beginning the request. */
  get upgrade(): boolean {
    return this.comesEarly || this.method === 'CONNECT';
  }

  /** Node sets it before it begins the request: null when it is made, then whether one was offered. */
  set upgrade(offered: boolean | null) {
    if (offered === null || this.comesEarly) return;
    const socket: ClientSocket = this.socket;
    // It hands on no more than one message at a time, and so nothing is dropped.
    const isOffer = offered && !(socket instanceof Inlet);
    const latest = socket[LATEST];
    if (!isOffer && socket.writable && (latest === undefined || latest.raw.closed)) return;
    this.comesEarly = true;
    socket.pause();
  }
}

/** Node 26 reads on to the end of the message, or further, before it gives the connection up. */
const STOPS_AT_HEAD = Number.parseInt(process.versions.node) < 25;

/** Has requests that came before their turn wait for it. */
export function takeTurns(server: Server): void {
  if (STOPS_AT_HEAD) takeOver(server);
  else takeAll(server);
}

/** Reads every connection through an `Inlet`, from its first request on. */
function takeAll(server: Server): void {
  // Node's own, which is there before all others.
  const read = server.listeners('connection')[0] as (socket: Socket) => void;
  server.off('connection', read);
  server.prependListener('connection', (socket) => {
    if (socket instanceof Inlet) {
      read.call(server, socket);
      return;
    }
    lookAfter(socket, server);
    server.emit('connection', new Inlet(socket));
  });
}

/** Reads those connections through an `Inlet` that Node has given up. */
function takeOver(server: Server): void {
  server.on('upgrade', (message, socket: ClientSocket, rest: Buffer) => {
    const earlier = socket[LATEST]?.raw;
    const onDrain = (): unknown => earlier?.emit('drain');
    // Node has let go of all of it, and the earlier answer is still under way.
    lookAfter(socket, server);
    socket.on('drain', onDrain);
    // Ends the read that it takes to be under way: it begins the next where there is room.
    socket.push('');
    if (rest.length > 0) socket.unshift(rest);
    socket.unshift(headOf(message));
    const goOn = (): void => {
      socket.off('drain', onDrain);
      // Nothing is carried out behind an answer that closes the connection (RFC 9112 section 9.6).
      if (socket.writable) server.emit('connection', new Inlet(socket));
    };
    if (earlier === undefined || earlier.closed) goOn();
    else earlier.once('close', goOn);
  });
}

/** By itself: what these listeners close over stays as long as the connection, and is to be no request. */
function lookAfter(socket: Socket, server: Server): void {
  socket.on('error', () => socket.destroy());
  socket.on('timeout', () => server.emit('timeout', socket));
}

/** The head as it was sent, but for white space that means nothing. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    head += `${rawHeaders[index]}: ${rawHeaders[index + 1]}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}
