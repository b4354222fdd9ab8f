import type { Type } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { type Operation, operationOfRoute } from '../http/operations.js';
import { runWithRequest } from '../telemetry/request-context.js';

/**
 * Runs the operations of extensions with the request as async context, for log lines and cursors. Core operations pass
 * the request on explicitly, because AsyncLocalStorage costs 11 % of a get on Node 20 and 22.
 * @param ours the modules of the service itself
 */
export function followGuests(
  operations: readonly Operation[],
  transport: FastifyInstance,
  ours: ReadonlySet<Type>,
): void {
  const guests = operations.filter(({ module }) => !ours.has(module));
  if (guests.length === 0) return;
  const operationOf = operationOfRoute(guests);
  transport.addHook('onRoute', (route) => {
    if (operationOf(route) === undefined) return;
    const { handler } = route;
    route.handler = function (request, reply) {
      return runWithRequest(request, () => handler.call(this, request, reply));
    };
  });
}
