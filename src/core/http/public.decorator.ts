import { SetMetadata, type Type } from '@nestjs/common';

const PUBLIC = 'petstore:public';

/**
 * Opens a controller to everyone: outside `/v1`, at its own path, without key, quota or rate-limit
 * headers.
 */
export function Public(): ClassDecorator {
  return SetMetadata(PUBLIC, true);
}

export function isPublic(controller: Type): boolean {
  return Reflect.hasMetadata(PUBLIC, controller);
}
