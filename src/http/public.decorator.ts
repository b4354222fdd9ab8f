import { SetMetadata, type Type } from '@nestjs/common';

const PUBLIC = 'petstore:public';

/** On a parameter decorator's factory, the decorator's name: it gives what no request to a public controller has. */
export const NEEDS_CALLER = 'petstore:needs-caller';

/**
 * Opens a controller to everyone: outside `/v1`, at its own path, without key, quota or rate headers.
 * Everything that is not marked is closed.
 */
export function Public(): ClassDecorator {
  return SetMetadata(PUBLIC, true);
}

export function isPublic(controller: Type): boolean {
  return Reflect.getMetadata(PUBLIC, controller) === true;
}
