import { type INestApplication, RequestMethod, type Type } from '@nestjs/common';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { RouteOptions } from 'fastify';
import { NOTED, pathOfModule } from './nest-metadata.js';
import { type Handler, isPublic } from './request-context.js';

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
  /** Whether what its controller needs, and so the controller, is made anew for each request. */
  isMadePerRequest: boolean;
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
            isMadePerRequest: !wrapper.isDependencyTreeStatic(),
          },
        ];
      });
    });
  });
}

/** Whether what a controller needs, and so the controller, is made anew for each request. */
export function isMadePerRequest(modules: ModulesContainer, controller: Type): boolean {
  return [...modules.values()].some(({ controllers }) =>
    [...controllers.values()].some(
      (wrapper) => wrapper.metatype === controller && !wrapper.isDependencyTreeStatic(),
    ),
  );
}

/** Which of `operations` Fastify has a route for; undefined for one of another. */
export function operationOfRoute(
  operations: readonly Operation[],
): (route: RouteOptions) => Operation | undefined {
  const known = new Map<string, Operation>();
  for (const operation of operations) {
    const { controller, method, paths } = operation;
    for (const path of paths) {
      known.set(`${method} ${asRouted(isPublic(controller) ? path : `/v1${path}`)}`, operation);
    }
  }
  return ({ method, url }) => {
    const path = asRouted(url);
    // What is served by GET is by HEAD.
    const methods = Array.isArray(method)
      ? ['ALL']
      : method === 'HEAD'
        ? ['HEAD', 'GET']
        : [method];
    const served = methods.find((each) => known.has(`${each} ${path}`));
    return served === undefined ? undefined : known.get(`${served} ${path}`);
  };
}

/** As Fastify has it: a wildcard has no name, and the base address no slash at its end. */
function asRouted(path: string): string {
  return path.replace(/\*\w*/g, '*').replace(/(.)\/$/, '$1');
}

function pathsOf(target: object): string[] {
  return [(Reflect.getMetadata(NOTED.path, target) ?? '') as string | string[]].flat();
}

function clean(path: string): string {
  return `/${path.split('/').filter(Boolean).join('/')}`;
}
