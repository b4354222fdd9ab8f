import { AsyncResource } from 'node:async_hooks';
import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';
import { currentRequest } from '../telemetry/current-request.js';
import { Turn } from '../time/turn.js';

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
