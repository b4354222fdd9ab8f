import { METHODS } from 'node:http';
import type { RouteOptions } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import type { ApiError } from '../errors/api-error.js';
import { errors, notFound } from '../errors/errors.js';
import type { ApiRequest } from './request.js';

/** The routes of the CatchAllController: every path of the API that no operation has. */
export const CATCH_ALL_ROUTES: readonly string[] = ['/v1', '/v1/*'];

/**
 * The methods of each path. Fastify responds to a wrong method with 404; the service responds with
 * 405 and `Allow`.
 */
export class RouteTable {
  private readonly router = findMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER });

  /**
   * The catch-all routes of the service and the `*` route of @fastify/cors are not resources.
   */
  add({ method, url }: Pick<RouteOptions, 'method' | 'url'>): void {
    if (CATCH_ALL_ROUTES.includes(url) || url === '*') return;
    this.router.off(method as HTTPMethod | HTTPMethod[], url);
    this.router.on(method as HTTPMethod | HTTPMethod[], url, () => undefined);
  }

  /** @returns the methods of the resource at `target`, sorted; empty if there is no resource */
  methodsOf(target: string): string[] {
    // find-my-way ignores the first character.
    if (target === '*') return [];
    return METHODS.filter((method) => {
      const route = this.router.find(method as HTTPMethod, target);
      const parameters = Object.entries(route?.params ?? {});
      // find-my-way matches an empty segment for a parameter; Nest does not.
      return route !== null && parameters.every(([name, value]) => name === '*' || value !== '');
    });
  }

  /**
   * The error for a request without a route: 405 if the path has other methods, otherwise 404, also
   * if a constraint of its route is not met.
   */
  rejectionOf({ method, url }: ApiRequest): ApiError {
    const methods = this.methodsOf(url);
    if (methods.length === 0 || methods.includes(method)) return notFound();
    return errors.method_not_allowed(`The resource does not support the method ${method}`, {
      headers: { Allow: methods.join(', ') },
    });
  }
}

/**
 * `onRoute` hook: lets a path end in a named wildcard, as `files/*path`. The router knows only `*`.
 */
export function acceptNamedWildcard(route: RouteOptions): void {
  const [, name] = /\*(\w+)$/.exec(route.url) ?? [];
  if (name === undefined) return;
  route.url = route.url.slice(0, -name.length);
  const addParameter = (request: ApiRequest, _reply: unknown, done: () => void) => {
    const params = request.params as Record<string, string>;
    params[name] = params['*']!;
    done();
  };
  route.onRequest = [route.onRequest ?? [], addParameter].flat();
}
