import { type INestApplication, RequestMethod, type Type } from '@nestjs/common';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { NOTED, pathOfModule } from './nest-metadata.js';
import type { Handler } from './per-operation.js';

/** A method of a controller that answers requests. */
export interface Operation {
  module: Type;
  controller: Type;
  handler: Handler;
  /** As `PetsController.listPets`. */
  name: string;
  method: keyof typeof RequestMethod;
  /** As `/pets/:petId`, without `/v1`. */
  paths: readonly string[];
}

/** Every operation of the application, a guest's too. */
export function operationsOf(app: INestApplication): Operation[] {
  const scanner = new MetadataScanner();
  const modules = app.get(ModulesContainer);
  return [...modules.values()].flatMap(({ controllers, metatype }) => {
    const prefix = pathOfModule(modules, metatype);
    return [...controllers.values()].flatMap((wrapper) => {
      const controller = wrapper.metatype as Type;
      const prototype = controller.prototype as Record<string, Handler>;
      return scanner.getAllMethodNames(prototype).flatMap((name): Operation[] => {
        const handler = prototype[name]!;
        const method = Reflect.getMetadata(NOTED.method, handler) as RequestMethod | undefined;
        if (method === undefined) return [];
        const paths = pathsOf(controller).flatMap((base) =>
          pathsOf(handler).map((path) => clean(`${prefix}/${base}/${path}`)),
        );
        const said = RequestMethod[method] as keyof typeof RequestMethod;
        return [
          {
            module: metatype,
            controller,
            handler,
            name: `${controller.name}.${name}`,
            method: said,
            paths,
          },
        ];
      });
    });
  });
}

function pathsOf(target: object): string[] {
  return [(Reflect.getMetadata(NOTED.path, target) ?? '') as string | string[]].flat();
}

function clean(path: string): string {
  return `/${path.split('/').filter(Boolean).join('/')}`;
}
