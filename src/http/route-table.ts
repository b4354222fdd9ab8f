import { METHODS } from 'node:http';
import type { RouteOptions } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';

/** The methods of each path. Fastify's router answers a wrong method with 404; the service answers 405 with `Allow`. */
export class RouteTable {
  private readonly router = findMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER });

  /** A route for every method, as the fallback is, stands for no resource. */
  add({ method, url }: Pick<RouteOptions, 'method' | 'url'>): void {
    const methods = [method].flat() as HTTPMethod[];
    if (methods.includes('TRACE')) return;
    for (const each of methods) {
      if (!this.router.hasRoute(each, url)) this.router.on(each, url, () => undefined);
    }
  }

  /** @returns the methods of the resource at `path`, sorted; empty if there is no resource */
  methodsOf(path: string): string[] {
    // find-my-way ignores the first character.
    if (!path.startsWith('/')) return [];
    return METHODS.filter((method) => {
      const route = this.router.find(method as HTTPMethod, path);
      // find-my-way matches an empty segment for a parameter; Nest does not.
      return route !== null && !Object.values(route.params).includes('');
    }).sort();
  }
}
