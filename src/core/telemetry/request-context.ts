import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while requests are traced. */
    traceId?: string;
  }
}

/** The current request. A test may run code with a few of its members. */
export type RequestContext = Pick<FastifyRequest, 'id'> & Partial<FastifyRequest>;

/** The Fastify request of the running code. Undefined outside requests. */
export const requestContext = new AsyncLocalStorage<RequestContext>();
