import { AsyncResource } from 'node:async_hooks';
import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Expose, Transform } from 'class-transformer';
import type { FastifyInstance } from 'fastify';
import { getRequestContext } from '../telemetry/request-context.js';
import { batchPerTick } from '../time/batch-per-tick.js';
import type { PublicAddress } from './public-address.js';
import { type ApiReply, type ApiRequest, appendHeader } from './request-context.js';
import { isApiTarget, pathOf } from './target.js';

const JSON_TEXT = Symbol('JSON text');

export type AnswerHeader = readonly [name: string, value: string];

/**
 * A response body that is JSON text already, with the headers that belong to it.
 * A controller returns one where the database has built the text: parsing and writing it again would
 * cost more than reading it, and would round an int64. A guest's ClassSerializerInterceptor makes a copy, which has
 * what is exposed, whatever its strategy is.
 */
export class JsonAnswer {
  /** A copy has it too: symbols stay what they are. */
  @Expose()
  readonly kind = JSON_TEXT;

  @Expose()
  readonly text: string;

  /** A list: the members of an object that is of no class may be left out of a copy. */
  @Expose()
  readonly headers: readonly AnswerHeader[];

  constructor(text: string, headers: readonly AnswerHeader[] = []) {
    this.text = text;
    this.headers = headers;
  }
}

/** Whether it is one, or was. */
export function isJsonAnswer(body: unknown): body is JsonAnswer {
  return typeof body === 'object' && (body as JsonAnswer | null)?.kind === JSON_TEXT;
}

const PAGED = Symbol('paged');

/** A page of a list: it is sent as an array, and `Link` (RFC 8288) holds the address of the next one. */
export abstract class PagedAnswer {
  /** A copy has it too, as of a `JsonAnswer`. */
  @Expose()
  readonly kind: symbol = PAGED;

  @Expose()
  readonly items: readonly unknown[];

  /** What the next page is asked for with, as the parameter `cursor`; undefined on the last one. */
  @Expose()
  @Transform(({ obj }: { obj: PagedAnswer }) => obj.next?.toString())
  readonly next: { toString(): string } | undefined;

  constructor(items: readonly unknown[], next: { toString(): string } | undefined) {
    this.items = items;
    this.next = next;
  }
}

/** Whether it is one, or was. */
export function isPagedAnswer(body: unknown): body is PagedAnswer {
  return typeof body === 'object' && (body as PagedAnswer | null)?.kind === PAGED;
}

/** The address that was asked for, with `cursor` for its own, and the limit written out. */
export function nextPageUrl(
  pathUrl: string,
  query: Readonly<Record<string, unknown>>,
  { items, next }: PagedAnswer,
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (name === 'cursor' || name === 'limit') continue;
    for (const each of [value].flat()) parameters.append(name, String(each));
  }
  parameters.set('limit', String(items.length));
  parameters.set('cursor', String(next));
  return `${pathUrl}?${parameters.toString()}`;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** What the adapter asks of those who judge. */
export interface Judges {
  answerUnrouted(request: ApiRequest, reply: ApiReply): Promise<void>;
  /** False where the caller is refused, and answered. */
  admitsUnguarded(request: ApiRequest, reply: ApiReply): Promise<boolean>;
}
type ErrorHandler = Parameters<FastifyInstance['setErrorHandler']>[0];

/** Nest on our transport. It sends what a controller returns: JSON text as it is, objects int64-exact. */
export class PetStoreAdapter extends FastifyAdapter {
  constructor(
    transport: FastifyInstance,
    private readonly judges: Judges,
    private readonly address: () => PublicAddress,
  ) {
    super(transport);
    transport.setReplySerializer((payload) => stringifyJson(payload));
  }

  /** Nest's own handler would answer before anyone has asked who the caller is. */
  override setNotFoundHandler(): FastifyInstance {
    const { judges } = this;
    return this.instance.setNotFoundHandler((request, reply) =>
      judges.answerUnrouted(request, reply),
    );
  }

  /** What a middleware or a hook throws comes before the guards: its caller is judged all the same. */
  override setErrorHandler(handler: ErrorHandler): FastifyInstance {
    const { judges } = this;
    return this.instance.setErrorHandler(async function (error, request, reply) {
      const isAdmitted = await judges.admitsUnguarded(request, reply);
      return isAdmitted ? (handler.call(this, error, request, reply) as unknown) : reply;
    });
  }

  override reply(response: ApiReply, body: unknown, status?: number): ApiReply {
    if (isPagedAnswer(body)) {
      this.linkTo(response, body);
      return super.reply(response, body.items, status);
    }
    if (!isJsonAnswer(body)) {
      if (isPlain(body)) this.tellOfMembers(response, body);
      return super.reply(response, body, status);
    }
    if (status !== undefined) response.code(status);
    response.header('content-type', JSON_TYPE);
    tell(response, body);
    return response.send(body.text);
  }

  /** An interceptor of a guest has put an answer into an envelope: its headers are still those of all of it. */
  private tellOfMembers(response: ApiReply, envelope: object): void {
    for (const member of Object.values(envelope)) {
      if (isPagedAnswer(member)) this.linkTo(response, member);
      else if (isJsonAnswer(member)) tell(response, member);
    }
  }

  private linkTo(response: ApiReply, page: PagedAnswer): void {
    if (page.next === undefined) return;
    const { raw, query } = response.request;
    const path = pathOf(raw.url!);
    const address = this.address();
    // The version segment is part of the base address.
    const url = isApiTarget(path)
      ? address.baseUrl + path.slice(path.indexOf('/', 1))
      : address.origin + path;
    const next = `<${nextPageUrl(url, query as Record<string, unknown>, page)}>; rel="next"`;
    appendHeader(response, 'link', next);
  }
}

function tell(response: ApiReply, { headers }: JsonAnswer): void {
  for (const [name, value] of headers) response.header(name, value);
}

function isPlain(body: unknown): body is object {
  return (
    typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype
  );
}

/** JSON text of any value, as `JSON.stringify` writes it; a BigInt is written with all of its digits. */
export function stringifyJson(value: unknown): string {
  return holdsBigInt(value) ? exactText(standInOf(value)) : JSON.stringify(value);
}

function holdsBigInt(value: unknown): boolean {
  if (value instanceof Date) return false;
  const standIn = standInOf(value);
  if (typeof standIn === 'bigint' || isJsonAnswer(standIn) || isPagedAnswer(standIn)) return true;
  return isContainer(standIn) && Object.values(standIn).some(holdsBigInt);
}

/** Of an object, `JSON.stringify` leaves these out. */
const UNWRITTEN = new Set(['undefined', 'function', 'symbol']);

/** @param value which stands for itself */
function exactText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) {
    return `[${value.map((item) => exactText(standInOf(item) ?? null)).join(',')}]`;
  }
  if (isJsonAnswer(value)) return value.text;
  if (isPagedAnswer(value)) return exactText(value.items);
  if (!isContainer(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .map(([name, member]) => [name, standInOf(member)] as const)
    .filter(([, member]) => !UNWRITTEN.has(typeof member))
    .map(([name, member]) => `${JSON.stringify(name)}:${exactText(member)}`);
  return `{${members.join(',')}}`;
}

/** What a value says by `toJSON` that it stands for; what that is stands for itself, as for `JSON.stringify`. */
function standInOf(value: unknown): unknown {
  if (!isContainer(value)) return value;
  const speaker = value as { toJSON?: () => unknown };
  return typeof speaker.toJSON === 'function' ? speaker.toJSON() : value;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const leaving = batchPerTick<{ leave(): void }>((responses) => {
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
    else if (getRequestContext() === undefined) leaving(this);
    // Whoever listens for its end is told so within the request that it answers.
    else leaving({ leave: AsyncResource.bind(() => this.leave()) });
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
