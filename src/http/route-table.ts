import { METHODS } from 'node:http';
import type { RouteOptions } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';

/**
 * Which methods each path has, so that a wrong method is a 405 with `Allow` and not a 404: the router
 * that serves requests only knows that this method and path match nothing.
 */
export class RouteTable {
  private readonly router = findMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER });

  /** A route of every method answers for what is no resource, and no method of it is wrong. */
  add({ method, url }: Pick<RouteOptions, 'method' | 'url'>): void {
    const methods = [method].flat() as HTTPMethod[];
    if (methods.includes('TRACE')) return;
    for (const each of methods) {
      if (!this.router.hasRoute(each, url)) this.router.on(each, url, () => undefined);
    }
  }

  /** The methods of the resource at `path`, sorted; none where there is no resource. */
  methodsOf(path: string): string[] {
    // The router does not look at the first character.
    if (!path.startsWith('/')) return [];
    return METHODS.filter((method) => {
      const route = this.router.find(method as HTTPMethod, path);
      // The router matches an empty segment for a parameter; Nest does not.
      return route !== null && !Object.values(route.params).includes('');
    }).sort();
  }
}
