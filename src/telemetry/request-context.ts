import { ScopeStorage } from './scope-storage.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while requests are traced. */
    traceId?: string;
  }
}

/** The members of the current request that log lines, cursors and events need. */
export interface RequestContext {
  readonly id: string;
  readonly traceId?: string | undefined;
  readonly routeOptions?: { readonly url?: string | undefined };
  readonly params?: unknown;
  readonly caller?: { readonly clientId: string } | undefined;
}

/**
 * The Fastify request of the running code. Undefined outside requests, and in operations with
 * `@WithoutRequestContext()`.
 */
export const requestContext = new ScopeStorage<RequestContext>();
