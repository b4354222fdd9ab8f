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
/** A stalled client is noticed within one part of the send timeout. */
const PARTS = 4;
/** While draining: how long clients may still learn from a response that their connection closes. */
const CLOSE_NOTICE_MS = 500;
const CLOSE_NOTICE_SHARE = 0.2;
const DRAIN_CHECK_MS = 50;

interface Connection {
  /** The request in progress is `response.req`. Undefined while the connection is idle. */
  response: ServerResponse | undefined;
  /** Responses to later requests, or the answer to a message that could not be parsed, which is the last. */
  waiting: (ServerResponse | (() => void))[];
  isStalled: boolean;
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
  private handler: RequestListener | undefined;
  /** An entry per connection. With one per request, the tables that V8 replaces would keep old requests alive. */
  private readonly connections = new Map<Socket, Connection>();

  /** @param sendTimeoutMs how long a client may read nothing of a response */
  constructor(private readonly sendTimeoutMs: number) {}

  /** Creates an HTTP server whose requests reach `handler` once every earlier one of their connection is answered. */
  createServer(options: ServerOptions, handler: RequestListener): Server {
    this.handler = handler;
    const server = createServer({
      ...options,
      IncomingMessage: this.messageClass(),
      ServerResponse: SingleChunkResponse,
    });
    server.on('connection', (socket) => {
      this.connections.set(socket, { response: undefined, waiting: [], isStalled: false });
      socket.once('close', () => this.connections.delete(socket));
    });
    server.on('request', (request, response) => this.enqueue(request.socket, response));
    const timer = setInterval(() => this.findStalled(), this.sendTimeoutMs / PARTS).unref();
    server.on('close', () => clearInterval(timer));
    return server;
  }

  /**
   * Handles a message that could not be parsed. If it is the body of the request in progress, whoever reads that body
   * gets the error; if nobody does, the response is the last. Otherwise `answer` is called once every earlier request
   * is answered.
   */
  reject(socket: Socket, error: Error, answer: () => void): void {
    // Nothing that follows can be parsed.
    socket.pause();
    const connection = this.connections.get(socket);
    const response = connection?.response;
    if (response === undefined) {
      answer();
    } else if (response.req.complete) {
      connection!.waiting.push(answer);
    } else if (response.req.listenerCount('error') > 0) {
      response.req.emit('error', error);
    } else {
      response.on('close', () => socket.destroySoon());
    }
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

  private enqueue(socket: Socket, response: ServerResponse): void {
    const connection = this.connections.get(socket);
    // It has just been closed.
    if (connection === undefined) return;
    if (connection.response === undefined) this.start(connection, response);
    else connection.waiting.push(response);
  }

  private get isSending(): boolean {
    for (const [{ writableLength }, { response }] of this.connections) {
      if (response !== undefined && writableLength > 0) return true;
    }
    return false;
  }

  private start(connection: Connection, response: ServerResponse): void {
    connection.response = response;
    response.on('close', () => this.next(connection, response.req.socket));
    void this.handler!(response.req, response);
  }

  private next(connection: Connection, socket: Socket): void {
    connection.response = undefined;
    const next = connection.waiting.shift();
    if (connection.isStalled) {
      connection.isStalled = false;
      socket.resume();
      if (next !== undefined) socket.setTimeout(0);
    }
    // Nothing is answered behind a response that closes the connection (RFC 9112 section 9.6).
    if (next === undefined || !socket.writable) return;
    if (typeof next === 'function') next();
    else this.start(connection, next);
  }

  /**
   * Node's socket timeout restarts with each byte that is sent or received. Without reading, it measures the progress
   * of the response alone: it fires after each part of the send timeout in which nothing was sent.
   */
  private findStalled(): void {
    const partMs = this.sendTimeoutMs / PARTS;
    for (const [socket, connection] of this.connections) {
      const { response } = connection;
      if (response === undefined || socket.writableLength === 0 || connection.isStalled) continue;
      connection.isStalled = true;
      let sinceMs = performance.now();
      let firedMs = sinceMs;
      response.on('timeout', () => {
        const nowMs = performance.now();
        if (nowMs - firedMs > 1.5 * partMs) sinceMs = nowMs - partMs;
        firedMs = nowMs;
        if (nowMs - sinceMs >= this.sendTimeoutMs) socket.destroy();
        else socket.setTimeout(partMs);
      });
      socket.pause();
      socket.setTimeout(partMs);
    }
  }
}
