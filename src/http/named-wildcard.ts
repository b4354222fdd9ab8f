import type { FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify';

/**
 * `onRoute` hook: lets a path end in a named wildcard, as `files/*path`. The router knows only `*`.
 */
export function acceptNamedWildcard(route: RouteOptions): void {
  const [, name] = /\*(\w+)$/.exec(route.url) ?? [];
  if (name === undefined) return;
  route.url = route.url.slice(0, -name.length);
  const addParameter = (request: FastifyRequest, _: unknown, done: HookHandlerDoneFunction) => {
    const params = request.params as Record<string, string>;
    params[name] = params['*']!;
    done();
  };
  route.onRequest = [route.onRequest ?? [], addParameter].flat();
}
