import { type INestApplication, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, MODULE_PATH, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { RouteOptions } from 'fastify';
import { isPublic } from './public.decorator.js';
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
        const paths = pathsOf(controller).flatMap((base) =>
          pathsOf(handler).map((path) => clean(`${prefix}/${base}/${path}`)),
        );
        return [
          {
            module,
            controller,
            handler,
            name: `${controller.name}.${name}`,
            method: RequestMethod[method] as keyof typeof RequestMethod,
            paths,
          },
        ];
      });
    });
  });
}

/** Finds the one of `operations` that a Fastify route belongs to. */
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
    // Fastify adds a HEAD route to each GET route.
    const methods = Array.isArray(method)
      ? ['ALL']
      : method === 'HEAD'
        ? ['HEAD', 'GET']
        : [method];
    const served = methods.find((each) => known.has(`${each} ${path}`));
    return served === undefined ? undefined : known.get(`${served} ${path}`);
  };
}

/** Fastify's wildcards have no name, and its paths no slash at the end. */
function asRouted(path: string): string {
  return path.replace(/\*\w*/g, '*').replace(/(.)\/$/, '$1');
}

function pathsOf(target: object, key = PATH_METADATA): string[] {
  return [(Reflect.getMetadata(key, target) ?? '') as string | string[]].flat();
}

function clean(path: string): string {
  return `/${path.split('/').filter(Boolean).join('/')}`;
}
