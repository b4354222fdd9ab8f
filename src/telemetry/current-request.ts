import { AsyncLocalStorage } from 'node:async_hooks';

/** What is told of a request that somebody works on: later rooms know more of it. */
export interface RequestUnderWay {
  readonly id: string;
  /** Of an operation: its pattern, and what its path said for that. */
  readonly routeOptions?: { readonly url?: string | undefined };
  readonly params?: unknown;
}

const current = new AsyncLocalStorage<RequestUnderWay>();

/** Whatever the work starts knows what request it is for. */
export function onBehalfOf<Result>(request: RequestUnderWay, work: () => Result): Result {
  return current.run(request, work);
}

/** Undefined for what no request has started, and within our own operations, which hand it on themselves. */
export function currentRequest(): RequestUnderWay | undefined {
  return current.getStore();
}
