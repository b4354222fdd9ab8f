import { IncomingMessage } from 'node:http';
import type { Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { RouteConstraints } from '@nestjs/platform-fastify';
import type { RouteOptions } from 'fastify';

const ON_ADMIN_PORT = 'petstore:on-admin-port';

/**
 * A request that arrived on ADMIN_PORT: only the server of that port creates this class, so neither
 * the target nor the `Host` of a request matters.
 */
export class AdminMessage extends IncomingMessage {}

/**
 * Constraint of Fastify's router: a request on ADMIN_PORT reaches only the routes of controllers
 * with `@OnAdminPort()`, and no other request reaches these.
 */
export const PORT_CONSTRAINT = {
  name: 'port',
  mustMatchWhenDerived: true,
  // Fastify's type lacks undefined, which means "no value".
  deriveConstraint: (message: unknown) =>
    (message instanceof AdminMessage ? 'admin' : undefined) as string,
  storage: () => new Map(),
};

/** Serves a controller on ADMIN_PORT instead of the public port, at its own path. */
export function OnAdminPort(): ClassDecorator {
  return (controller) => {
    Reflect.defineMetadata(ON_ADMIN_PORT, true, controller);
    const prototype = controller.prototype as object;
    for (const descriptor of Object.values(Object.getOwnPropertyDescriptors(prototype))) {
      if (!Reflect.hasMetadata(METHOD_METADATA, descriptor.value as object)) continue;
      RouteConstraints({ port: 'admin' })(prototype, '', descriptor);
    }
  };
}

export function isOnAdminPort(controller: Type): boolean {
  return Reflect.hasMetadata(ON_ADMIN_PORT, controller);
}

export function isAdminRoute({ constraints }: RouteOptions): boolean {
  return constraints?.['port'] === 'admin';
}
