import type { ApiReply, ApiRequest } from './request-context.js';
import type { RouteTable } from './route-table.js';
import { pathOf } from './target.js';

/** Response headers that scripts of another origin may read (Fetch standard, CORS protocol). */
const EXPOSED_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'Link',
  'Location',
  'Retry-After',
  'X-Request-Id',
  'Deprecation',
  'Sunset',
  'Idempotent-Replayed',
].join(', ');
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'X-Request-Id',
  'traceparent',
  'tracestate',
  'baggage',
];
const PREFLIGHT_SECONDS = '600';

/** Lets scripts of the configured origins, and of no other, call the API. @fastify/cors cannot list the methods of one path. */
export class Cors {
  private readonly origins: ReadonlySet<string>;
  private readonly requestHeaders: string;

  /** @param requestHeaders headers that extensions allow besides those of the service */
  constructor(
    origins: readonly string[],
    private readonly routes: RouteTable,
    requestHeaders: readonly string[] = [],
  ) {
    this.origins = new Set(origins);
    this.requestHeaders = [...new Set([...REQUEST_HEADERS, ...requestHeaders])].join(', ');
  }

  /** Adds the headers of a cross-origin response. @returns true if the request was a preflight, which is answered */
  answersPreflight({ raw }: ApiRequest, reply: ApiReply): boolean {
    // A shared cache must not reuse a response for another origin.
    reply.header('vary', 'Origin');
    const { origin } = raw.headers;
    if (origin === undefined || !this.origins.has(origin)) return false;
    reply.header('access-control-allow-origin', origin);
    reply.header('access-control-expose-headers', EXPOSED_HEADERS);
    if (raw.method !== 'OPTIONS') return false;
    if (raw.headers['access-control-request-method'] === undefined) return false;
    reply.code(204);
    const methods = this.routes.methodsOf(pathOf(raw.url!));
    if (methods.length > 0) reply.header('access-control-allow-methods', methods.join(', '));
    reply.header('access-control-allow-headers', this.requestHeaders);
    reply.header('access-control-max-age', PREFLIGHT_SECONDS);
    reply.send();
    return true;
  }
}
