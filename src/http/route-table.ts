import { METHODS } from 'node:http';
import type { RouteOptions } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';

/**
 * Which methods each path has, so that a wrong method is a 405 with `Allow` and not a 404: the router
 * that serves requests only knows that this method and path match nothing.
 */
export class RouteTable {
  private readonly router = findMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER });

  /** Catch-all routes answer for what has no resource, so they are none. */
  add({ method, url }: Pick<RouteOptions, 'method' | 'url'>): void {
    if (url.endsWith('*')) return;
    for (const each of [method].flat() as HTTPMethod[]) {
      if (!this.router.hasRoute(each, url)) this.router.on(each, url, () => undefined);
    }
  }

  /** The methods of the resource at `path`, sorted; none where there is no resource. */
  methodsOf(path: string): string[] {
    return METHODS.filter((method) => {
      const route = this.router.find(method as HTTPMethod, path);
      // The router matches an empty segment for a parameter; Nest does not.
      return route !== null && !Object.values(route.params).includes('');
    }).sort();
  }
}
