import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { batchPerTick } from '../time/batch-per-tick.js';

const PIECE_BYTES = 4_096;
const NOTHING = Buffer.alloc(0);
/** Every head ends with it, and so does every body in chunks. */
const BOUNDARY = Buffer.from('\r\n\r\n');

/**
 * So many begin a request in one turn of the event loop. A thousand of them would hold up everybody else,
 * and what they make would outlive the turn, and with it the young generation of the heap.
 */
const BEGUN_PER_TURN = 16;
let mostPerTurn = BEGUN_PER_TURN;
const beginning = batchPerTick<Waiting>(
  (inlets) => {
    longestMs = Math.max(longestMs, performance.now() - inlets[0]!.waitsSinceMs);
    for (const inlet of inlets) inlet.begin();
  },
  () => mostPerTurn,
);

interface Waiting {
  readonly waitsSinceMs: number;
  begin(): void;
}
let longestMs = 0;

/** Whether in one turn all may begin that wait for it: where most of them are refused. */
export function beginAll(all: boolean): void {
  mostPerTurn = all ? Infinity : BEGUN_PER_TURN;
}

/** How long whoever waited longest for its turn had to, of those that had it since this was last asked. */
export function takeLongestWaitMs(): number {
  const longest = longestMs;
  longestMs = 0;
  return longest;
}

/**
 * A connection as Node is to read it: message by message, each when the one before is answered. What has
 * not been asked for stays in the socket, and behind its buffer in that of the kernel.
 */
export class Inlet extends Duplex implements Waiting {
  private held: Buffer = NOTHING;
  private isWanted = false;
  private mayBegin = false;
  /** For its turn to begin a message. */
  waitsSinceMs = 0;
  /** How much of a body of known length is still to be handed on. */
  private bodyBytesLeft = 0;
  private exchange: { message: IncomingMessage; isChunked: boolean } | undefined;

  constructor(private readonly socket: Socket) {
    // Without a high-water mark of 0 a stream reads ahead, past the end of the message.
    super({ allowHalfOpen: true, decodeStrings: false, readableHighWaterMark: 0 });
    socket.on('readable', () => this.hand());
    socket.on('end', () => this.hand());
    socket.on('close', () => this.destroy());
    this.wait();
  }

  /** It is its turn to hand on the next message. */
  begin(): void {
    this.mayBegin = true;
    this.hand();
  }

  /** Told of each message that Node has made of what it was handed. */
  begins(message: IncomingMessage, response: ServerResponse): void {
    const isChunked = message.headers['transfer-encoding'] !== undefined;
    this.bodyBytesLeft = isChunked ? 0 : Number(message.headers['content-length'] ?? 0);
    this.exchange = { message, isChunked };
    response.once('close', () => {
      this.exchange = undefined;
      this.mayBegin = false;
      this.wait();
    });
  }

  private wait(): void {
    this.waitsSinceMs = performance.now();
    beginning(this);
  }

  override _read(): void {
    this.isWanted = true;
    this.hand();
  }

  override _write(chunk: string | Buffer, encoding: BufferEncoding, done: () => void): void {
    this.socket.write(chunk, encoding, done);
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }

  // What Node's HTTP and ours ask of a socket besides.

  get remoteAddress(): string | undefined {
    return this.socket.remoteAddress;
  }

  setTimeout(ms: number): this {
    this.socket.setTimeout(ms);
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  private hand(): void {
    if (!this.isWanted || !this.mayBegin || this.isAnswering) return;
    const piece = this.next();
    if (piece === undefined) return;
    this.isWanted = false;
    this.push(piece);
  }

  /** Whether a whole message is handed on that is not answered yet. */
  private get isAnswering(): boolean {
    const { exchange } = this;
    if (exchange === undefined || this.bodyBytesLeft > 0) return false;
    return !exchange.isChunked || exchange.message.complete;
  }

  /** What to hand on: never more than to the end of one message. Null at the end. */
  private next(): Buffer | null | undefined {
    if (this.held.length < BOUNDARY.length) this.fill();
    const { held, socket } = this;
    let length: number;
    if (this.bodyBytesLeft > 0) {
      length = Math.min(this.bodyBytesLeft, held.length);
      this.bodyBytesLeft -= length;
    } else {
      const end = held.indexOf(BOUNDARY);
      if (end !== -1) length = end + BOUNDARY.length;
      else if (socket.readableEnded) length = held.length;
      else length = held.length - begunBoundaryLength(held);
    }
    if (length === 0) return socket.readableEnded ? null : undefined;
    this.held = held.subarray(length);
    return held.subarray(0, length);
  }

  private fill(): void {
    const { socket } = this;
    // At least one, so that an empty socket is asked to read on.
    const more = socket.read(Math.min(socket.readableLength, PIECE_BYTES) || 1) as Buffer | null;
    if (more !== null) this.held = this.held.length === 0 ? more : Buffer.concat([this.held, more]);
  }
}

/** How much of a boundary these bytes end with, the rest of which may be yet to come. */
function begunBoundaryLength(bytes: Buffer): number {
  let length = Math.min(bytes.length, BOUNDARY.length - 1);
  while (!bytes.subarray(bytes.length - length).equals(BOUNDARY.subarray(0, length))) length--;
  return length;
}
