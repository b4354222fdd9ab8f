import type { ApiRequest } from './request.js';
import type { RouteTable } from './route-table.js';

/** Response headers that scripts of another origin may read (Fetch standard, CORS protocol). */
const EXPOSED_HEADERS =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, ' +
  'ETag, Link, Location, Retry-After, X-Request-Id, Deprecation, Sunset, Idempotent-Replayed';
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id, traceparent, ' +
  'tracestate, baggage';

/**
 * Options of Nest's `enableCors()`: lets scripts of the configured origins, and of no other, call
 * the API. The response to a preflight has the methods of its path. Any other OPTIONS request is
 * evaluated like a wrong method.
 * @param requestHeaders headers that extensions allow besides those of the service
 */
export function corsOptions(
  origins: readonly string[],
  routes: RouteTable,
  requestHeaders: readonly string[],
) {
  const allowedHeaders = [REQUEST_HEADERS, ...requestHeaders].join(', ');
  function delegator({ raw }: ApiRequest, callback: (error: null, options: object) => void): void {
    const { method, url, headers } = raw;
    const { origin, 'access-control-request-method': requested } = headers;
    const isAllowed = origin !== undefined && origins.includes(origin);
    const preflight = isAllowed && method === 'OPTIONS' && Boolean(requested);
    callback(null, {
      origin: isAllowed && origin,
      exposedHeaders: EXPOSED_HEADERS,
      allowedHeaders,
      methods: preflight ? routes.methodsOf(url!) : [],
      maxAge: 600,
      preflight,
    });
  }
  return { delegator };
}
