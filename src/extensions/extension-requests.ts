import type { FastifyInstance } from 'fastify';
import { FALLBACK_ROUTES } from '../http/route-table.js';
import { isPublic } from '../http/public.decorator.js';
import type { Operations } from '../http/operations.js';
import { requestContext } from '../telemetry/request-context.js';

/**
 * Runs the operations of extensions with the request as async context, for log lines and cursors.
 * Core operations pass the request on explicitly, because AsyncLocalStorage costs 11 % of a get on
 * Node 20 and 22.
 */
export function trackExtensionRequests(operations: Operations, transport: FastifyInstance): void {
  const core = operations.all
    .filter(({ isCore }) => isCore)
    .flatMap(({ controller, method, paths }) =>
      paths.map((path) => `${method} ${isPublic(controller) ? '' : '/v1'}${path}`),
    );
  transport.addHook('onRoute', (route) => {
    const { handler, method, url } = route;
    const isCore = core.includes(`${method === 'HEAD' ? 'GET' : String(method)} ${url}`);
    if (isCore || FALLBACK_ROUTES.includes(url)) return;
    route.handler = function (request, reply) {
      return requestContext.run(request, () => handler.call(this, request, reply));
    };
  });
}
