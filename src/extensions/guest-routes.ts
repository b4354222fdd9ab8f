import type { Type } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { type Operation, operationOfRoute } from '../http/operations.js';
import { runWithRequest } from '../telemetry/request-context.js';

/**
 * Has whatever a guest's operation starts know what request it is for, its lines of the log among it. Ours hand
 * that on themselves: to remember it costs a request more than it is worth there.
 * @param ours the modules whose operations are ours; before any route is there
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
