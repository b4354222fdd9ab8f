import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ExecutionContext, Type } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation id, once a route is known: for the log and the metrics. */
    operation: string | undefined;
    /** Why the request was refused or failed, and the address of the client. */
    refusal: { code: string; address: string } | undefined;
    /** Why the target or the body could not be read. */
    messageError: Error | undefined;
  }
}

export type ApiRequest = FastifyRequest;
export type ApiReply = FastifyReply;
export type Handler = ReturnType<ExecutionContext['getHandler']>;

/** `switchToHttp().getRequest()` without its three closures per call. */
export function requestOf(context: ExecutionContext): ApiRequest {
  return context.getArgByIndex<ApiRequest>(0);
}

/** `switchToHttp().getResponse()` without its three closures per call. */
export function replyOf(context: ExecutionContext): ApiReply {
  return context.getArgByIndex<ApiReply>(1);
}

/** Adds to a list-based header (RFC 9110 section 5.6.1) that may be set already. */
export function appendHeader(reply: ApiReply, name: string, value: string): void {
  const others = reply.getHeader(name);
  reply.header(name, others === undefined ? value : `${String(others)}, ${value}`);
}

/** Whether a header was sent more than once; Node keeps the first. @param field in lower case */
export function isRepeated(field: string, rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === field.length && name.toLowerCase() === field) count++;
  }
  return count > 1;
}

const ACCEPTABLE_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-Id` if it is safe to log, otherwise a new one. */
export function requestIdOf(message: IncomingMessage): string {
  const sent = message.headers['x-request-id'];
  return typeof sent === 'string' && ACCEPTABLE_ID.test(sent) ? sent : randomUUID();
}

/** Caches a value derived from the metadata of an operation, by controller and handler. */
export class PerOperation<Value> {
  private readonly cache = new WeakMap<Type, WeakMap<Handler, { value: Value }>>();

  constructor(private readonly resolve: (controller: Type, handler: Handler) => Value) {}

  of(context: ExecutionContext): Value {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    let ofController = this.cache.get(controller);
    if (ofController === undefined) {
      ofController = new WeakMap();
      this.cache.set(controller, ofController);
    }
    let found = ofController.get(handler);
    if (found === undefined) {
      found = { value: this.resolve(controller, handler) };
      ofController.set(handler, found);
    }
    return found.value;
  }
}
