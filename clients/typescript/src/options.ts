import type { Deprecation } from './deprecation.js';
import type { Key } from './models.js';

export interface PetStoreClientOptions extends Hooks {
  /** The base URL with its version: `https://api.example.com/v1`. */
  baseUrl: string;
  /**
   * Permits a base URL with `http:` outside this machine. Anyone on the way can then read the key.
   * Default: false.
   */
  allowInsecure?: boolean | undefined;
  /** `psk_...` Default: the environment variable `PETSTORE_API_KEY`, where the platform has one. */
  apiKey?: string | undefined;
  /** Maximum number of retries after a temporary failure. Default: 4. */
  maxRetries?: number | undefined;
  /**
   * Maximum duration of one attempt in milliseconds, up to the last byte of the response. Default:
   * 30,000.
   */
  timeoutMs?: number | undefined;
  /** Sends the requests. Default: the `fetch` of the platform. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** Callbacks for logs and metrics. If a hook throws, the call rejects and is not retried. */
export interface Hooks {
  /** Called before each attempt. */
  onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called after each response, whatever its status. */
  onResponse?: ((event: ResponseEvent) => void) | undefined;
  /** Called before the wait that precedes a retry. */
  onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Called once per deprecated operation. */
  onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
  /** Called when `getKey` reports that the key expires in fewer than 14 days. */
  onKeyExpiring?: ((key: Key) => void) | undefined;
}

export interface RequestEvent {
  /** `createPet`, or method and path. */
  operation: string;
  method: string;
  url: string;
  /** The headers to send. The hook may set more, such as `traceparent`. */
  headers: Headers;
  /** 1 for the first attempt. */
  attempt: number;
}

export interface ResponseEvent extends RequestEvent {
  status: number;
  /** The response. Its body has already been read. */
  response: Response;
  durationMs: number;
}

export interface RetryEvent {
  operation: string;
  /** The attempt that failed: 1 for the first. */
  attempt: number;
  error: Error;
  /** Milliseconds until the next attempt. */
  delayMs: number;
}

export interface CallOptions {
  /** Aborts the call with all its attempts and waits. The call rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Maximum duration of one attempt in milliseconds. */
  timeoutMs?: number | undefined;
  /** Maximum number of retries. */
  maxRetries?: number | undefined;
}

export interface ConditionalOptions extends CallOptions {
  /** `ETag` of a response that the caller has. If it is current, the result is undefined. */
  ifNoneMatch?: string | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * Identifies this creation for 24 hours, also after a restart of the caller. Default: a random
   * key.
   */
  idempotencyKey?: string | undefined;
}

type QueryValue = string | number | bigint | boolean;
export type Query = Record<string, QueryValue | readonly QueryValue[] | undefined>;

export interface RequestOptions<Body = unknown> extends CreateOptions, ConditionalOptions {
  /**
   * The name of the operation in hooks. Default: method and path, with `{id}` for each identifier.
   */
  operation?: string | undefined;
  query?: Query | undefined;
  /** Further headers, such as `If-Match`. */
  headers?: Record<string, string> | undefined;
  /** Sent as JSON. A bigint is written exactly. */
  body?: Body | undefined;
  /**
   * Members of the response that are always read as bigint. Other integers are bigint only beyond
   * 2^53 - 1.
   */
  int64Members?: readonly string[] | undefined;
}
