import { type Type } from '@nestjs/common';

const publicControllers = new WeakSet<object>();

/**
 * Opens a controller outside `/v1` to everyone: no key, no quota.
 * Everything that is not marked is closed.
 */
export function Public(): ClassDecorator {
  return (controller) => void publicControllers.add(controller);
}

export function isPublic(controller: Type): boolean {
  return publicControllers.has(controller);
}
