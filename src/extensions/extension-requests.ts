import type { FastifyInstance } from 'fastify';
import type { Operations } from '../http/operations.js';
import { runWithRequest } from '../telemetry/request-context.js';

/**
 * Runs the operations of extensions with the request as async context, for log lines and cursors. Core operations pass
 * the request on explicitly, because AsyncLocalStorage costs 11 % of a get on Node 20 and 22.
 */
export function trackExtensionRequests(operations: Operations, transport: FastifyInstance): void {
  const core = operations.all
    .filter(({ isCore }) => isCore)
    .flatMap(({ method, paths }) => paths.map((path) => `${method} /v1${path}`));
  transport.addHook('onRoute', (route) => {
    const { handler, method, url } = route;
    if (core.includes(`${method === 'HEAD' ? 'GET' : String(method)} ${url}`)) return;
    route.handler = function (request, reply) {
      return runWithRequest(request, () => handler.call(this, request, reply));
    };
  });
}
