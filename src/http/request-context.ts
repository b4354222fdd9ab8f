import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

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
