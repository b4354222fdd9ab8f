import { IncomingMessage, type Server } from 'node:http';
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
