import type { INestApplication, Type } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { isPublic, operationsOf } from '../http/operations.js';
import { onBehalfOf } from '../telemetry/current-request.js';

/**
 * Has whatever a guest's operation starts know what request it is for, its lines of the log among it. Ours hand
 * that on themselves: to remember it costs a request more than it is worth there.
 * @param ours the modules whose operations are ours; before any route is there
 */
export function followGuests(
  app: INestApplication,
  transport: FastifyInstance,
  ours: ReadonlySet<Type>,
): void {
  const guests = new Set(
    operationsOf(app)
      .filter(({ module }) => !ours.has(module))
      .flatMap(({ controller, paths }) =>
        paths.map((path) => plain(isPublic(controller) ? path : `/v1${path}`)),
      ),
  );
  if (guests.size === 0) return;
  transport.addHook('onRoute', (route) => {
    if (!guests.has(plain(route.url))) return;
    const { handler } = route;
    route.handler = function (request, reply) {
      return onBehalfOf(request, () => handler.call(this, request, reply));
    };
  });
}

/** As Fastify has it: a wildcard has no name, and the base address no slash at its end. */
function plain(path: string): string {
  return path.replace(/\*\w*/g, '*').replace(/(.)\/$/, '$1');
}
