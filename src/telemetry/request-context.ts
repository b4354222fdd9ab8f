import { AsyncLocalStorage } from 'node:async_hooks';

/** The members of the current request that log lines and cursors need. */
export interface RequestContext {
  readonly id: string;
  readonly traceId?: string | undefined;
  readonly routeOptions?: { readonly url?: string | undefined };
  readonly params?: unknown;
}

/**
 * The request of the running code. Undefined outside requests, and in the operations of the
 * service, which pass the request on themselves: on Node 20 and 22 an AsyncLocalStorage costs a get
 * 11 %.
 */
export const requestContext = new AsyncLocalStorage<RequestContext>();
