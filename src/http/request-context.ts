import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { NOTED } from './nest-metadata.js';
import { isOtherForm } from './target.js';

/** What the steps before the controller found out about a request. Later rooms add their own part. */
declare module 'fastify' {
  interface FastifyRequest {
    /** The operation id, once a route is known to answer: for the log and the metrics. */
    operation: string | undefined;
    /** Why it was refused, or failed, and who asked: while answering, its connection may go. */
    refusal: { code: string; address: string } | undefined;
    /** Whether the last of our judges has let it in. */
    isJudged: boolean;
  }
}

export type ApiRequest = FastifyRequest;
export type ApiReply = FastifyReply;

/** As `switchToHttp().getRequest()`, which makes three closures per call: every guard asks. */
export function requestOf(context: ExecutionContext): ApiRequest {
  return context.getArgByIndex<ApiRequest>(0);
}

/** As `switchToHttp().getResponse()`. */
export function replyOf(context: ExecutionContext): ApiReply {
  return context.getArgByIndex<ApiReply>(1);
}

/** Adds to a list-based field (RFC 9110 section 5.6.1), which others may have set. */
export function appendHeader(reply: ApiReply, name: string, value: string): void {
  const others = reply.getHeader(name);
  reply.header(name, others === undefined ? value : `${String(others)}, ${value}`);
}

/** Of two such fields Node keeps the first. @param field in lower case */
export function isRepeated(field: string, rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === field.length && name.toLowerCase() === field) count++;
  }
  return count > 1;
}

/** On a parameter decorator's factory, or an interceptor: it looks at no body. */
export const READS_NO_BODY = 'petstore:reads-no-body';

/** The message, whose body no one has read before the last of the guards does. */
export interface UnreadBody extends IncomingMessage {
  /** The body as sent, once the body guard has read it. */
  bytes?: Buffer;
  /** Tells a client that sent `Expect: 100-continue` to go on. */
  acceptBody?: () => void;
  /** Why the rest of the body will not come. */
  failure?: Error;
  /** Tells whoever is reading the body of its failure. */
  fail?: (failure: Error) => void;
}

const ACCEPTABLE = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-Id` where it can be trusted in a log line, else a fresh one. */
export function requestIdOf(message: IncomingMessage): string {
  const sent = message.headers['x-request-id'];
  return typeof sent === 'string' && ACCEPTABLE.test(sent) ? sent : randomUUID();
}

export type Handler = ReturnType<ExecutionContext['getHandler']>;

/**
 * What the metadata of an operation say, worked out once for each. By controller and handler: those that
 * inherit a handler share it, and not what a decorator of theirs says of it.
 */
export class PerOperation<Value> {
  private readonly known = new WeakMap<Type, WeakMap<Handler, { value: Value }>>();

  constructor(private readonly resolve: (controller: Type, handler: Handler) => Value) {}

  of(context: ExecutionContext): Value {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    let ofController = this.known.get(controller);
    if (ofController === undefined) {
      ofController = new WeakMap();
      this.known.set(controller, ofController);
    }
    let found = ofController.get(handler);
    if (found === undefined) {
      found = { value: this.resolve(controller, handler) };
      ofController.set(handler, found);
    }
    return found.value;
  }
}

/** A method of a controller, and the module that has it. */
interface NamedOperation {
  module: Type;
  controller: Type;
  handler: Handler;
}

/**
 * What each operation is called, in the document, in metrics and in the log: as `@ApiOperation()` says, or by its
 * method's name where nothing else has it, else with its controller's. Ours keep theirs, whatever guests call their own.
 */
@Injectable()
export class OperationIds {
  private readonly ids = new Map<Type, Map<Handler, string>>();

  /** Told once all modules are known. @param ours the modules whose operations are ours */
  assign(operations: readonly NamedOperation[], ours: ReadonlySet<Type>): void {
    const taken = new Set<string>();
    const guests: NamedOperation[] = [];
    for (const operation of operations) {
      if (!ours.has(operation.module)) guests.push(operation);
      else this.set(operation, taken, operation.handler.name);
    }
    const counts = new Map<string, number>();
    for (const { handler } of guests) {
      const name = givenId(handler) ?? handler.name;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const operation of guests) {
      const { controller, handler } = operation;
      const isAlone = counts.get(handler.name) === 1 && !taken.has(handler.name);
      const name = isAlone ? handler.name : `${controller.name}_${handler.name}`;
      this.set(operation, taken, unlike(taken, givenId(handler) ?? name));
    }
  }

  of(context: ExecutionContext): string {
    const handler = context.getHandler();
    return this.idOf(context.getClass(), handler) ?? handler.name;
  }

  idOf(controller: Type, handler: Handler): string | undefined {
    return this.ids.get(controller)?.get(handler);
  }

  private set({ controller, handler }: NamedOperation, taken: Set<string>, id: string): void {
    taken.add(id);
    const ofController = this.ids.get(controller) ?? new Map<Handler, string>();
    this.ids.set(controller, ofController.set(handler, id));
  }
}

/** What `@ApiOperation({ operationId })` calls it. */
function givenId(handler: Handler): string | undefined {
  const noted = Reflect.getMetadata(NOTED.operation, handler) as
    { operationId?: string } | undefined;
  return noted?.operationId;
}

/** The name, or the first with a number that nothing has yet. */
export function unlike(taken: ReadonlySet<string>, name: string): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) {
    if (!taken.has(`${name}_${number}`)) return `${name}_${number}`;
  }
}

const PUBLIC = 'petstore:public';

/** On a parameter decorator's factory, the decorator's name: it gives what no request to a public controller has. */
export const NEEDS_CALLER = 'petstore:needs-caller';

/**
 * Opens a controller to everyone: outside `/v1`, at its own path, without key, quota or rate headers.
 * Everything that is not marked is closed.
 */
export function Public(): ClassDecorator {
  return SetMetadata(PUBLIC, true);
}

export function isPublic(controller: Type): boolean {
  return Reflect.getMetadata(PUBLIC, controller) === true;
}

/** RFC 9110 section 4.1 asks for at least 8,000. */
const MAX_TARGET_LENGTH = 8_000;
const MAX_HEADER_FIELDS = 1_000;
/** `uri-host [ ":" port ]` (RFC 9110 section 7.2), in which the host may be empty. */
const HOST = /^(?:[\w\-.~%!$&'()*+,;=]*|\[[\da-fv:.]+\])(?::\d*)?$/i;

/**
 * Judges the HTTP message itself. Node and Fastify would do so before anyone asks who the caller is, and
 * in words of their own; here it comes after the quota.
 */
@Injectable()
export class MessageGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const { raw } = request;
    const { headers } = raw;
    if (request.originalUrl.length > MAX_TARGET_LENGTH) {
      throw errors.uri_too_long(`The target must not exceed ${MAX_TARGET_LENGTH} characters`);
    }
    if (raw.rawHeaders.length > 2 * MAX_HEADER_FIELDS) {
      throw errors.header_fields_too_large(
        `A request must not have more than ${MAX_HEADER_FIELDS} header fields`,
      );
    }
    refuseAmbiguity(request);
    // Node reads 0.9 and 2.0 as well, as if they were 1.0: without asking for a Host.
    if (raw.httpVersionMajor !== 1) throw malformed('Only HTTP/1.0 and HTTP/1.1 are served');
    if (headers.host === undefined && raw.httpVersion === '1.1') {
      throw malformed('The Host header is missing');
    }
    if (headers.host !== undefined && !HOST.test(headers.host)) {
      throw malformed('The Host header names no host');
    }
    if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
      throw errors.expectation_failed('Only 100-continue can be expected');
    }
    return true;
  }
}

/** What two readers of the message could understand in two ways. */
function refuseAmbiguity(request: ApiRequest): void {
  const { raw } = request;
  refuseTarget(request);
  const coding = raw.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw malformed('Transfer-Encoding must be chunked');
  }
  if (isRepeated('host', raw.rawHeaders)) throw malformed('The Host header is given twice');
  if (isRepeated('content-type', raw.rawHeaders)) {
    throw malformed('The Content-Type header is given twice');
  }
}

/** @throws {ApiError} 400 for a target that had to be made decodable, or that the router alone can read */
export function refuseTarget({ originalUrl, url }: ApiRequest): void {
  if (originalUrl !== url) throw malformed('The target cannot be decoded');
  if (!url.startsWith('/') && !isOtherForm(url))
    throw malformed('The target is neither a path nor an http address');
}

function malformed(message: string): ApiError {
  return errors.malformed_request(message);
}
