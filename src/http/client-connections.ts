import { once } from 'node:events';
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { malformedError, refuseMalformed } from './malformed-message.js';
import { SingleChunkResponse } from './single-chunk-response.js';

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
  response: ServerResponse | undefined;
  /** Starts later requests, or answers a message that could not be parsed, which is the last. */
  waiting: (() => void)[];
}

/**
 * The connections of the HTTP server.
 *
 * - Each connection has one request in progress. Pipelined requests wait for the response before
 *   theirs, and the connection is closed when more than 32 requests are without a response: a
 *   client that does not read occupies the memory of one response.
 * - A client that reads no byte of a response for the send timeout is disconnected, even while it
 *   sends.
 * - A drain answers every request that has arrived, then closes the connections.
 */
export class ClientConnections {
  private isDraining = false;
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
   * Creates an HTTP server whose requests reach `handler` once every earlier one of their
   * connection is answered.
   */
  createServer(options: ServerOptions, handler: RequestListener): Server {
    const classes = { IncomingMessage: this.messageClass(), ServerResponse: SingleChunkResponse };
    const server = createServer({ ...options, ...classes });
    server.on('connection', (socket) => {
      this.connections.set(socket, { response: undefined, waiting: [] });
      socket.once('close', () => this.connections.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      const connection = this.connections.get(socket);
      // It has just been closed.
      if (connection === undefined) return;
      if (connection.response === undefined) this.start(connection, response, handler);
      else connection.waiting.push(() => this.start(connection, response, handler));
    });
    // Without a listener, Node closes the connection and sends no response.
    server.on('connect', ({ socket }) => {
      socket.on('error', () => socket.destroy());
      this.reject(new Error('CONNECT is not supported'), socket);
    });
    const timer = setInterval(() => this.pauseReading(), this.sendTimeoutMs * SCAN_SHARE).unref();
    return server.on('close', () => clearInterval(timer));
  }

  /**
   * Handles a message that could not be parsed. If it is the body of the request in progress, the
   * reader of the body gets the error; without a reader, the connection closes after the response.
   * Any other malformed message gets its 400 after all earlier responses.
   */
  reject(cause: Error, socket: Socket): void {
    const answer = (): void => refuseMalformed(cause, socket);
    // Nothing that follows can be parsed.
    socket.pause();
    const connection = this.connections.get(socket);
    const response = connection?.response;
    if (response === undefined) answer();
    else if (response.req.complete) connection!.waiting.push(answer);
    else if (response.req.listenerCount('error')) response.req.emit('error', malformedError(cause));
    else response.on('close', () => socket.destroySoon());
  }

  /**
   * Stops listening once load balancers had the time to notice. Then it answers every request that
   * arrives on an open connection, announces the end of the connection, and closes it. At the
   * deadline it closes all connections.
   * @param deadlineMs by `performance.now()`
   */
  async drain(server: Server, deadlineMs: number): Promise<void> {
    const phaseMs = Math.min(MAX_PHASE_MS, (deadlineMs - performance.now()) * PHASE_SHARE);
    await delay(phaseMs);
    const closed = once(server, 'close');
    // `close()` calls it, and cuts responses whose last bytes are still to be sent.
    server.closeIdleConnections = () => undefined;
    server.close();
    // Not earlier: clients would reconnect, and `close()` resets connections that Node has not
    // accepted yet.
    this.isDraining = true;
    await delay(phaseMs);
    for (const [socket, { response }] of this.connections) {
      if (response === undefined) socket.destroySoon();
    }
    // `closeAllConnections()` leaves out connections whose parser Node has released at CONNECT.
    const destroyAll = (): void => this.connections.forEach((_, socket) => socket.destroy());
    setTimeout(destroyAll, deadlineMs - performance.now()).unref();
    await closed;
  }

  /** @returns whether a response that is sent now is the last one of its connection */
  isLast({ socket }: IncomingMessage): boolean {
    return this.isDraining && !this.connections.get(socket)?.waiting.length;
  }

  /** The class of the server's messages, which closes a connection that is too far ahead. */
  private messageClass(): typeof IncomingMessage {
    const { connections } = this;
    return class extends IncomingMessage {
      constructor(socket: Socket) {
        super(socket);
        const connection = connections.get(socket);
        if (connection === undefined || connection.waiting.length + 1 < MAX_UNANSWERED) return;
        connection.waiting = [];
        socket.destroy();
        // At an upgrade, Node stops parsing. It would go on for up to 11 ms with the 64 KiB that it
        // has read.
        Object.defineProperty(this, 'upgrade', { get: () => true, set: () => undefined });
      }
    };
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
      // Nothing is answered behind a response that closes the connection (RFC 9112 section 9.6).
      if (next !== undefined && req.socket.writable) next();
      else if (this.isDraining) req.socket.destroySoon();
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
