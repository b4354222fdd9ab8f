import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ExecutionContext, Type } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation id, once a route is known: for the log and the metrics. */
    operation: string | undefined;
    /** Why the request was rejected or failed, and the address of the client. */
    rejection: { code: string; address: string } | undefined;
    /** The bytes of the body as they were sent. */
    rawBody?: Buffer | undefined;
    /** Why the body could not be read. */
    bodyError: Error | undefined;
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

/** Whether the route of a request is under `/v1`. */
export function isApiRoute({ routeOptions }: ApiRequest): boolean {
  return routeOptions.url?.startsWith('/v1/') === true;
}

/** Adds to a list-based header (RFC 9110 section 5.6.1) that may be set already. */
export function appendHeader(reply: ApiReply, name: string, value: string): void {
  const others = reply.getHeader(name);
  reply.header(name, others === undefined ? value : `${String(others)}, ${value}`);
}

/** No key, neither of the API nor of the admin API, reaches the log. */
const ACCEPTABLE_ID = /^(?!.*ps[ka]_)[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-Id` if it is safe to log, otherwise a new one. */
export function requestIdOf(message: IncomingMessage): string {
  const sent = message.headers['x-request-id'];
  return typeof sent === 'string' && ACCEPTABLE_ID.test(sent) ? sent : randomUUID();
}

/** Caches a value derived from the metadata of an operation, by handler and controller. */
export class PerOperation<Value> {
  private readonly cache = new Map<Type, Map<Handler, Value>>();

  constructor(private readonly resolve: (handler: Handler, controller: Type) => Value) {}

  of(context: ExecutionContext): Value {
    const handler = context.getHandler();
    const controller = context.getClass();
    const values = this.cache.get(controller) ?? new Map<Handler, Value>();
    if (!values.has(handler)) {
      this.cache.set(controller, values.set(handler, this.resolve(handler, controller)));
    }
    return values.get(handler) as Value;
  }
}
