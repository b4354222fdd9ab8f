import type { RouteOptions } from 'fastify';

/**
 * `onRoute` hook: lets a path end in a named wildcard, as `files/*path`. The router knows only `*`.
 */
export function acceptNamedWildcard(route: RouteOptions): void {
  const [, name] = /\*(\w+)$/.exec(route.url) ?? [];
  if (name === undefined) return;
  route.url = route.url.slice(0, -name.length);
  const { handler } = route;
  route.handler = function (request, reply) {
    const params = request.params as Record<string, string>;
    params[name] = params['*']!;
    return handler.call(this, request, reply);
  };
}
