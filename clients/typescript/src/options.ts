import type { Deprecation } from './deprecation.js';

export interface PetStoreClientOptions extends Hooks {
  /** The base address, with its version: `https://api.example.com/v1`. */
  baseUrl: string;
  /** `psk_...` */
  apiKey: string;
  /** How often a try that failed for a passing reason is repeated. 4, unless told otherwise. */
  maxRetries?: number | undefined;
  /**
   * How long one try may take, its answer's last byte included, and the wait for its turn while no answer
   * comes to any; not that for a quota. 30,000 ms, unless told otherwise.
   */
  timeoutMs?: number | undefined;
  /** What sends: the platform's own `fetch`, unless told otherwise. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** Told what happens. What a hook throws rejects the call, and is never retried. */
export interface Hooks {
  /** Before each try is sent. */
  onRequest?: ((event: RequestEvent) => void) | undefined;
  /** After each answer, whatever it says. */
  onResponse?: ((event: ResponseEvent) => void) | undefined;
  /** Before the wait that precedes another try. */
  onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Once per operation that is to go. */
  onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
}

export interface RequestEvent {
  /** `createPet`, or method and path. */
  operation: string;
  method: string;
  url: string;
  /** What is sent; more may be set, as `traceparent`. */
  headers: Headers;
  /** 1 for the first try. */
  attempt: number;
}

export interface ResponseEvent extends RequestEvent {
  status: number;
  /** Its body is read already. */
  response: Response;
  durationMs: number;
}

export interface RetryEvent {
  operation: string;
  /** The try that failed: 1 for the first. */
  attempt: number;
  error: Error;
  delayMs: number;
}

export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. `AbortSignal.timeout(ms)` bounds it with all its tries. */
  signal?: AbortSignal | undefined;
  /** How long one try may take. */
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Names this creation for 24 hours, over restarts of the caller too; a fresh one, unless told otherwise. */
  idempotencyKey?: string | undefined;
}

type QueryValue = string | number | bigint | boolean;
export type Query = Record<string, QueryValue | readonly QueryValue[] | undefined>;

export interface RequestOptions<Body = unknown> extends CreateOptions {
  /**
   * What it is named in hooks, the same for each of its addresses. Unless told otherwise one of ours has its own
   * name, and any other is method and path, with `{id}` for each part that has a digit or is percent-encoded.
   */
  operation?: string | undefined;
  query?: Query | undefined;
  /** Sent as JSON; bigint digit by digit. */
  body?: Body | undefined;
  /** Members of the answer that are bigint whatever their size. Any integer beyond 2^53 is. */
  int64Members?: readonly string[] | undefined;
}
