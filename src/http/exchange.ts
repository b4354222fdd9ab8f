import { AsyncResource } from 'node:async_hooks';
import {
  IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';
import { currentRequest } from '../telemetry/logger.js';
import { Turn } from '../time/turn.js';
import type { Socket } from 'node:net';
import { Inlet } from './inlet.js';
import type { ApiReply } from './request-context.js';

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

const leaving = new Turn<{ leave(): void }>((responses) => {
  for (const response of responses) response.leave();
});

/** Instead of what it was ended with, which nothing is to keep. */
const LEFT: unknown[] = [];

type OnePiece = [text: string, encoding: BufferEncoding, whenLeft?: () => void];

/**
 * A response that leaves at the end of its turn of the event loop, with all others of that turn. Each one
 * sent by itself wakes its receiver, who sleeps again until the next: to be woken, and to wake, costs both
 * sides more than to write and to read. Who was woken by the first is still awake for the others.
 */
export class GatheredResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  private ending: unknown[] | undefined;

  /** Whether `end()` was called: nothing can be added any more. */
  get isEnding(): boolean {
    return this.ending !== undefined;
  }

  /** What cannot be sent is refused once: whoever answers the failure does so with the headers that are left. */
  override writeHead(...args: unknown[]): this {
    try {
      super.writeHead.apply(this, args as Parameters<ServerResponse['writeHead']>);
      return this;
    } catch (error) {
      removeUnsendable(args.at(-1));
      throw error;
    }
  }

  override end(callback?: () => void): this;
  override end(chunk: unknown, callback?: () => void): this;
  override end(chunk: unknown, encoding: BufferEncoding, callback?: () => void): this;
  override end(...args: unknown[]): this {
    if (this.ending !== undefined) return this;
    this.ending = args;
    // What Node would throw is thrown here, at who has ended it so.
    if (!this.headersSent || !isSendable(args[0])) this.leave();
    else if (currentRequest() === undefined) leaving.add(this);
    // Whoever listens for its end is told so within the request that it answers.
    else leaving.add({ leave: AsyncResource.bind(() => this.leave()) });
    return this;
  }

  /** Behind the end it is Node's to refuse. */
  override write(...args: unknown[]): boolean {
    if (this.isEnding) this.leave();
    return super.write.apply(this, args as Parameters<ServerResponse['write']>);
  }

  leave(): void {
    const ending = this.ending!;
    if (ending === LEFT) return;
    this.ending = LEFT;
    if (this.isOfOnePiece(ending)) this.leaveInOnePiece(ending);
    else super.end.apply(this, ending as Parameters<ServerResponse['end']>);
  }

  private isOfOnePiece(ending: unknown[]): ending is OnePiece {
    const [text, encoding] = ending;
    const isText = typeof text === 'string' && text !== '' && typeof encoding !== 'function';
    return isText && this.headersSent && !this.chunkedEncoding && this.socket?.writableCorked === 0;
  }

  /**
   * Node's `end(text)` writes the header with the text, and then nothing: two pieces, which it gathers in
   * memory that it allocates for them. One costs a tenth less of a small answer.
   */
  private leaveInOnePiece([text, encoding, whenLeft]: OnePiece): void {
    const socket = this.socket!;
    // On a socket that nobody has corked, Node would wait until the next tick for more.
    socket.cork();
    super.write(text, encoding);
    socket.uncork();
    super.end(whenLeft);
  }
}

/** From the object that Fastify has them in. */
function removeUnsendable(headers: unknown): void {
  for (const [name, value] of Object.entries((headers ?? {}) as OutgoingHttpHeaders)) {
    try {
      validateHeaderName(name);
      for (const each of [value].flat()) validateHeaderValue(name, each as string);
    } catch {
      delete (headers as OutgoingHttpHeaders)[name];
    }
  }
}

function isSendable(chunk: unknown): boolean {
  const isNothing = chunk === undefined || chunk === null;
  return isNothing || typeof chunk === 'string' || chunk instanceof Uint8Array;
}

/** As far as anyone can tell it has ended. Node declares a property, and has an accessor. */
Object.defineProperty(GatheredResponse.prototype, 'writableEnded', {
  get(this: GatheredResponse): boolean {
    return this.isEnding;
  },
});
