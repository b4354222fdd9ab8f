import { RouteConfig } from '@nestjs/platform-fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    requestContext?: false;
  }
}

/**
 * Runs an operation without `requestContext`, which takes a tenth of the time of a list before
 * Node 24. Log lines of the handler then have no request id, events no client, and a cursor is not
 * bound to the path of its list.
 */
export function WithoutRequestContext(): MethodDecorator {
  return RouteConfig({ requestContext: false });
}
