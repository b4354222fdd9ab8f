import type { ApiReply, ApiRequest } from './request-context.js';
import type { RouteTable } from './route-table.js';
import { pathOf } from './target.js';

/** What scripts of another origin may read besides the body (Fetch standard, CORS protocol). */
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
const REQUEST_HEADERS = ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-Request-Id'];
const PREFLIGHT_SECONDS = '600';

/** Lets scripts of the configured origins, and of no other, call the API. */
export class Cors {
  private readonly origins: ReadonlySet<string>;

  private readonly requestHeaders: string;

  /** @param requestHeaders what scripts may send besides our own fields */
  constructor(
    origins: readonly string[],
    private readonly routes: RouteTable,
    requestHeaders: readonly string[] = [],
  ) {
    this.origins = new Set(origins);
    this.requestHeaders = [...new Set([...REQUEST_HEADERS, ...requestHeaders])].join(', ');
  }

  /** Adds the headers of a cross-origin response; true where it was a preflight, which is answered. */
  answersPreflight({ raw }: ApiRequest, reply: ApiReply): boolean {
    // A shared cache must not give one origin's answer to another, nor to none.
    reply.header('vary', 'Origin');
    const { origin } = raw.headers;
    if (origin === undefined || !this.origins.has(origin)) return false;
    reply.header('access-control-allow-origin', origin);
    reply.header('access-control-expose-headers', EXPOSED_HEADERS);
    if (raw.method !== 'OPTIONS') return false;
    if (raw.headers['access-control-request-method'] === undefined) return false;
    reply.code(204);
    // Those of the resource, a guest's too; where there is none, there is none to allow.
    const methods = this.routes.methodsOf(pathOf(raw.url!));
    if (methods.length > 0) reply.header('access-control-allow-methods', methods.join(', '));
    reply.header('access-control-allow-headers', this.requestHeaders);
    reply.header('access-control-max-age', PREFLIGHT_SECONDS);
    reply.send();
    return true;
  }
}
