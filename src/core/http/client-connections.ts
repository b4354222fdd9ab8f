import { AsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import {
  IncomingMessage,
  type RequestListener,
  Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { rejectMalformed } from './malformed-message.js';
import { NOTHING, withRoom } from './request-body.js';

/** Requests of one connection that may be without a response at the same time. */
const MAX_UNANSWERED = 32;
/** Part of the send timeout after which the server looks for clients that do not read. */
const SCAN_SHARE = 0.25;
/**
 * Length of each of the two phases of a drain before idle connections are closed: this share, and
 * at most this time.
 */
const PHASE_SHARE = 0.05;
const MAX_PHASE_MS = 500;

interface Connection {
  /** The request in progress is `response.req`. Undefined while the connection is idle. */
  response?: ServerResponse | undefined;
  /** The last request that was parsed. Its body may be incomplete. */
  last?: IncomingMessage;
  /** Why nothing more can be read from the connection. */
  failure?: Error;
  /** Starts each pipelined request. The last may reject a message that could not be parsed. */
  waiting: (() => void)[];
}

/**
 * The connections of the HTTP server.
 *
 * - Each connection has one request in progress. Pipelined requests wait for the response before
 *   theirs. While one waits, nothing more is read, and the connection is closed when more than 32
 *   requests are without a response: a client that does not read occupies the memory of one
 *   response, and of the 64 KiB that Node reads at once.
 * - A client that reads no byte of a response for the send timeout is disconnected, even while it
 *   sends.
 * - A drain responds to every request that has arrived, then closes the connections.
 */
export class ClientConnections {
  private readonly servers: DrainableServer[] = [];
  /**
   * An entry per connection. With one per request, the tables that V8 replaces would keep old
   * requests alive.
   */
  private readonly connections = new Map<Socket, Connection>();

  /**
   * @param sendTimeoutMs how long a client may read nothing of a response; it is disconnected
   *   before twice this time
   */
  constructor(private readonly sendTimeoutMs: number) {}

  /**
   * Creates an HTTP server whose requests, also those without a `Host`, reach `handler` once every
   * earlier request of their connection has its response.
   */
  createServer(options: ServerOptions, handler: RequestListener): Server {
    const server = new DrainableServer({
      ...options,
      // Node would respond itself, and `handler` would get the requests behind that response.
      requireHostHeader: false,
      IncomingMessage: BoundedRequest,
      ServerResponse: SingleChunkResponse as typeof ServerResponse,
    });
    this.servers.push(server);
    server.on('connection', (socket) => {
      // Node caches the address. After a client has left, it could not be read any more.
      if (socket.remoteAddress === undefined) return socket.destroy();
      this.connections.set(socket, { waiting: [] });
      socket.once('close', () => this.connections.delete(socket));
    });
    server.on('request', (request, response) => this.receive(request, response, handler));
    server.on('checkExpectation', (request, response) =>
      this.receive(request, response, () => response.writeHead(417).end()),
    );
    server.on('clientError', (error, socket) => this.reject(error, socket as Socket));
    // Without a listener, Node closes the connection and sends no response.
    server.on('connect', ({ socket }) => {
      socket.on('error', () => socket.destroy());
      this.reject(new Error('CONNECT is not supported'), socket);
    });
    const timer = setInterval(() => this.pauseReading(), this.sendTimeoutMs * SCAN_SHARE).unref();
    return server.on('close', () => clearInterval(timer));
  }

  /**
   * Handles a message that could not be parsed, or did not arrive in time. If it is the body of a
   * request, `failureOf()` returns the error, and a reader of the body gets it as an event. Any
   * other malformed message gets its 400 after all earlier responses.
   */
  private reject(cause: Error, socket: Socket): void {
    // Nothing that follows can be parsed.
    socket.pause();
    const connection = this.connections.get(socket);
    if (connection?.response === undefined) {
      // The rest of a body whose request has its response already.
      if (connection?.last?.complete === false) return socket.destroySoon();
      return rejectMalformed(cause, socket);
    }
    const last = connection.last!;
    connection.failure = cause;
    if (last.complete) connection.waiting.push(() => rejectMalformed(cause, socket));
    else if (last.listenerCount('error') > 0) last.emit('error', cause);
  }

  /** @returns why the body of a request could not be read */
  failureOf(request: IncomingMessage): Error | undefined {
    const connection = this.connections.get(request.socket);
    return request === connection?.last && !request.complete ? connection.failure : undefined;
  }

  /**
   * Stops listening once load balancers had the time to notice. Then it responds to every request
   * that arrives on an open connection, announces the end of the connection, and closes it. At the
   * deadline it closes all connections.
   * @param deadlineMs by `performance.now()`
   */
  async drain(deadlineMs: number): Promise<void> {
    const servers = this.servers.filter(({ listening }) => listening);
    const phaseMs = Math.min(MAX_PHASE_MS, (deadlineMs - performance.now()) * PHASE_SHARE);
    await delay(phaseMs);
    const closed = Promise.all(servers.map((server) => once(server, 'close')));
    // Not earlier: clients would reconnect, and `close()` resets connections that Node has not
    // accepted yet.
    for (const server of servers) {
      server.isDraining = true;
      server.close();
    }
    await delay(phaseMs);
    for (const [socket, { response }] of this.connections) {
      if (response === undefined) socket.destroySoon();
    }
    // `closeAllConnections()` leaves out connections whose parser Node has released at CONNECT.
    const destroyAll = () => this.connections.forEach((_, socket) => socket.destroy());
    setTimeout(destroyAll, deadlineMs - performance.now()).unref();
    await closed;
  }

  /** @returns whether a response that is sent now is the last one of its connection */
  isLast({ socket }: IncomingMessage): boolean {
    const connection = this.connections.get(socket);
    const isDraining = this.servers.some((server) => server.isDraining);
    const isEnding = isDraining || connection?.failure !== undefined;
    return isEnding && !connection?.waiting.length;
  }

  private receive(
    request: IncomingMessage,
    response: ServerResponse,
    handler: RequestListener,
  ): void {
    const { socket } = request;
    const connection = this.connections.get(socket);
    // The parser continues for some milliseconds with the data of a closed connection.
    if (connection === undefined || !socket.writable) return;
    connection.last = request;
    if (connection.response === undefined) {
      this.start(connection, response, handler);
    } else if (connection.waiting.length + 1 < MAX_UNANSWERED) {
      // Without its own context, it would run in that of the request before it.
      // `AsyncResource.bind()` took a fifth of the time of 32 pipelined requests on Node 20.
      const context = new AsyncResource('PipelinedRequest');
      const start = () => this.start(connection, response, handler);
      connection.waiting.push(() => context.runInAsyncScope(start));
      // After what was read at once: Node resumes the socket at the end of each message.
      process.nextTick(() => connection.waiting.length > 0 && socket.pause());
    } else {
      connection.waiting = [];
      socket.destroy();
    }
  }

  private start(connection: Connection, response: ServerResponse, handler: RequestListener): void {
    const { req } = response;
    connection.response = response;
    const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
    // Marks the absent body as read: Node would read it after the response. It saves 6 % of a list
    // and 7 % of a get.
    if (req.method === 'GET' && length === undefined && coding === undefined) req.read(0);
    response.on('close', () => {
      connection.response = undefined;
      const next = connection.waiting.shift();
      if (connection.waiting.length === 0 && connection.failure === undefined) req.socket.resume();
      // Nothing follows a response that closes the connection (RFC 9112 section 9.6).
      if (next !== undefined && req.socket.writable) next();
      else if (this.isLast(req)) req.socket.destroySoon();
    });
    void handler(req, response);
  }

  /**
   * Node closes a connection without any traffic for the time of its socket timeout. As long as
   * nothing is read from the client, traffic is the progress of the response.
   */
  private pauseReading(): void {
    for (const [socket, connection] of this.connections) {
      const { response } = connection;
      if (response === undefined || socket.writableLength === 0) continue;
      socket.pause();
      // Node has no timeout during a request.
      if (socket.timeout) continue;
      socket.setTimeout(this.sendTimeoutMs);
      response.on('close', () => {
        socket.resume();
        // Node has set its keep-alive timeout if the connection is idle.
        if (connection.response !== undefined) socket.setTimeout(0);
      });
    }
  }
}

/**
 * - The chunks of a body are joined until it is read: a chunk of one byte would occupy 75.
 * - Node would parse all that it has read from a connection, up to 2,400 requests, even if the
 *   connection was closed at one of the first. It parses nothing after an upgrade.
 */
class BoundedRequest extends IncomingMessage {
  private readonly isTooLate = !this.socket.writable;
  private asksForUpgrade: boolean | null = null;
  private joined: Buffer = NOTHING;
  private size = 0;

  /** Set by Node. */
  get upgrade(): boolean | null {
    return this.isTooLate || this.asksForUpgrade;
  }

  set upgrade(value) {
    this.asksForUpgrade = value;
  }

  override push(chunk: Buffer | null): boolean {
    if (chunk === null || this.readableFlowing !== null) {
      this.release();
      return super.push(chunk);
    }
    this.joined = withRoom(this.joined, this.size + chunk.length);
    this.size += chunk.copy(this.joined, this.size);
    return this.size < this.readableHighWaterMark;
  }

  override _read(size: number): void {
    this.release();
    super._read(size);
  }

  private release(): void {
    if (this.size === 0) return;
    const chunk = this.joined.subarray(0, this.size);
    this.joined = NOTHING;
    this.size = 0;
    super.push(chunk);
  }
}

/** A server whose drain completes the responses that clients are still reading. */
class DrainableServer extends Server {
  isDraining = false;

  /** `close()` calls this method, which would truncate them. */
  override closeIdleConnections(): void {
    if (!this.isDraining) super.closeIdleConnections();
  }
}

/**
 * Sends a short response in one piece. Node's `end(text)` writes the text and then nothing: two
 * chunks, for which `writev` allocates memory. One chunk saves 5 to 7 % of a list.
 */
class SingleChunkResponse extends ServerResponse {
  override end(...args: unknown[]): this {
    const [text, encoding, callback] = args;
    const { socket } = this;
    const isText = typeof text === 'string' && text !== '' && typeof encoding !== 'function';
    if (isText && this.headersSent && !this.chunkedEncoding && socket?.writableCorked === 0) {
      socket.cork();
      this.write(text, encoding as BufferEncoding);
      socket.uncork();
      return super.end(callback as (() => void) | undefined);
    }
    return super.end(...(args as [unknown, BufferEncoding]));
  }
}
