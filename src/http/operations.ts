import { type INestApplication, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, MODULE_PATH, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { Handler } from './request-context.js';

/** A method of a controller that answers requests. */
export interface Operation {
  module: Type;
  controller: Type;
  handler: Handler;
  /** For example `PetsController.listPets`. */
  name: string;
  method: keyof typeof RequestMethod;
  /** For example `/pets/:petId`, without `/v1`. */
  paths: readonly string[];
}

/** Every operation of the application, those of extensions included. */
export function operationsOf(app: INestApplication): Operation[] {
  const scanner = new MetadataScanner();
  const modules = app.get(ModulesContainer);
  return [...modules.values()].flatMap(({ controllers, metatype: module }) => {
    // RouterModule stores the prefix of a module for each application.
    const prefix = pathsOf(module, MODULE_PATH + modules.applicationId)[0]!;
    return [...controllers.values()].flatMap(({ metatype }) => {
      const controller = metatype as Type;
      const prototype = controller.prototype as Record<string, Handler>;
      return scanner.getAllMethodNames(prototype).flatMap((name): Operation[] => {
        const handler = prototype[name]!;
        const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
        if (method === undefined) return [];
        return [
          {
            module,
            controller,
            handler,
            name: `${controller.name}.${name}`,
            method: RequestMethod[method] as Operation['method'],
            paths: pathsOf(controller).flatMap((base) =>
              pathsOf(handler).map((path) => clean(`${prefix}/${base}/${path}`)),
            ),
          },
        ];
      });
    });
  });
}

function pathsOf(target: object, key = PATH_METADATA): string[] {
  return [(Reflect.getMetadata(key, target) ?? '') as string | string[]].flat();
}

function clean(path: string): string {
  return `/${path.split('/').filter(Boolean).join('/')}`;
}
