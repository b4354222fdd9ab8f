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
import { SingleChunkResponse } from './single-chunk-response.js';

/** Requests of one connection that may be without a response at the same time. */
const MAX_UNANSWERED = 32;
/** Part of the send timeout after which the server looks for clients that do not read. */
const SCAN_SHARE = 0.25;
/** While draining: how long clients may still learn from a response that their connection closes. */
const CLOSE_NOTICE_MS = 500;
const CLOSE_NOTICE_SHARE = 0.2;
const DRAIN_CHECK_MS = 50;

interface Connection {
  /** The request in progress is `response.req`. Undefined while the connection is idle. */
  response: ServerResponse | undefined;
  /** Starts later requests, or answers a message that could not be parsed, which is the last. */
  waiting: (() => void)[];
  isPaused: boolean;
}

/**
 * The connections of the HTTP server.
 *
 * - Each connection has one request in progress. Pipelined requests wait for the response before theirs, and the
 *   connection is closed when more than 32 requests are without a response: a client that does not read occupies the
 *   memory of one response.
 * - A client that reads no byte of a response for the send timeout is disconnected, even while it sends.
 * - A drain answers every request that has arrived, then closes the connections.
 */
export class ClientConnections {
  isDraining = false;
  /** An entry per connection. With one per request, the tables that V8 replaces would keep old requests alive. */
  private readonly connections = new Map<Socket, Connection>();

  /** @param sendTimeoutMs how long a client may read nothing of a response; it is disconnected before twice this time */
  constructor(private readonly sendTimeoutMs: number) {}

  /** Creates an HTTP server whose requests reach `handler` once every earlier one of their connection is answered. */
  createServer(options: ServerOptions, handler: RequestListener): Server {
    const server = createServer({
      ...options,
      IncomingMessage: this.messageClass(),
      ServerResponse: SingleChunkResponse,
    });
    server.on('connection', (socket) => {
      this.connections.set(socket, { response: undefined, waiting: [], isPaused: false });
      socket.once('close', () => this.connections.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      const connection = this.connections.get(socket);
      // It has just been closed.
      if (connection === undefined) return;
      if (connection.response === undefined) this.start(connection, response, handler);
      else connection.waiting.push(() => this.start(connection, response, handler));
    });
    const timer = setInterval(() => this.pauseSending(), this.sendTimeoutMs * SCAN_SHARE).unref();
    return server.on('close', () => clearInterval(timer));
  }

  /**
   * Handles a message that could not be parsed. If it is the body of the request in progress, the reader of that body
   * gets the error; if there is none, the response is the last. Otherwise `answer` is called once every earlier request
   * is answered.
   */
  reject(socket: Socket, error: Error, answer: () => void): void {
    // Nothing that follows can be parsed.
    socket.pause();
    const connection = this.connections.get(socket);
    const response = connection?.response;
    if (response === undefined) answer();
    else if (response.req.complete) connection!.waiting.push(answer);
    else if (response.req.listenerCount('error') > 0) response.req.emit('error', error);
    else response.on('close', () => socket.destroySoon());
  }

  /**
   * Stops listening once clients had the time to notice, answers the requests in progress, and closes each connection
   * that is idle. At the deadline it closes all connections.
   * @param deadlineMs by `performance.now()`
   */
  async drain(server: Server, deadlineMs: number): Promise<void> {
    this.isDraining = true;
    const noticeMs = (deadlineMs - performance.now()) * CLOSE_NOTICE_SHARE;
    await delay(Math.min(CLOSE_NOTICE_MS, noticeMs));
    // Node takes a connection for idle while the last bytes of its response are still to be sent.
    while (this.isSending && performance.now() < deadlineMs) await delay(DRAIN_CHECK_MS);
    const closed = once(server, 'close');
    server.close();
    const timer = setInterval(() => {
      if (performance.now() >= deadlineMs) server.closeAllConnections();
      else if (!this.isSending) server.closeIdleConnections();
    }, DRAIN_CHECK_MS);
    await closed;
    clearInterval(timer);
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
        // Node stops parsing at a message that changes the protocol. Otherwise it would parse all requests of the
        // 64 KiB that it has read, for a closed connection: up to 11 ms instead of 0.3 ms.
        Object.defineProperty(this, 'upgrade', { get: () => true, set: () => undefined });
      }
    };
  }

  private start(connection: Connection, response: ServerResponse, handler: RequestListener): void {
    connection.response = response;
    response.on('close', () => this.next(connection, response.req.socket));
    void handler(response.req, response);
  }

  private next(connection: Connection, socket: Socket): void {
    connection.response = undefined;
    const next = connection.waiting.shift();
    if (connection.isPaused) {
      connection.isPaused = false;
      socket.resume();
      // Without another request, the keep-alive timeout has replaced the send timeout.
      if (next !== undefined) socket.setTimeout(0);
    }
    // Nothing is answered behind a response that closes the connection (RFC 9112 section 9.6).
    if (socket.writable) next?.();
  }

  private get isSending(): boolean {
    for (const [{ writableLength }, { response }] of this.connections) {
      if (response !== undefined && writableLength > 0) return true;
    }
    return false;
  }

  /**
   * Node closes a connection without any traffic for the time of its socket timeout. As long as nothing is read from
   * the client, traffic is the progress of the response.
   */
  private pauseSending(): void {
    for (const [socket, connection] of this.connections) {
      if (connection.response === undefined || socket.writableLength === 0) continue;
      socket.pause();
      if (!connection.isPaused) socket.setTimeout(this.sendTimeoutMs);
      connection.isPaused = true;
    }
  }
}
