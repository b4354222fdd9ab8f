import { join } from 'node:path/posix';
import { Injectable, RequestMethod, type Type } from '@nestjs/common';
import {
  METHOD_METADATA,
  MODULE_PATH,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import type { RouteParamtypes } from '@nestjs/common/internal';
import { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import { CatchAllController } from './catch-all.controller.js';
import { isPublic } from './public.decorator.js';
import { type Handler, PerOperation } from './request.js';

/** Characters with a meaning in a path pattern. */
const PATTERN_CHARACTERS = /[:*{}()[\]+?!\\]/g;

/** A method of a controller that handles requests. */
export interface Operation {
  /**
   * The name of the method, unless `@ApiOperation()` sets another. In the document, the metrics and
   * the log.
   */
  id: string;
  controller: Type;
  handler: Handler;
  /** The name of the method. The handler has another name if a decorator has replaced it. */
  key: string;
  /** For example `PetsController.listPets`. */
  name: string;
  method: keyof typeof RequestMethod;
  /** For example `/pets/:petId`, without `/v1`. */
  paths: readonly string[];
}

/** Every operation of the application, those of extensions included. */
@Injectable()
export class Operations {
  private operations: readonly Operation[] | undefined;
  /** The id of the operation that handles a request. */
  readonly ids = new PerOperation(
    (handler, controller) => this.find(handler, controller)?.id ?? handler.name,
  );

  constructor(private readonly modules: ModulesContainer) {}

  /** Complete once the application is created. */
  get all(): readonly Operation[] {
    this.operations ??= this.discover();
    return this.operations;
  }

  find(handler: Handler, controller: Type): Operation | undefined {
    return this.all.find((each) => each.controller === controller && each.handler === handler);
  }

  /**
   * The paths of public controllers, as patterns that match nothing else. Every other path is under
   * `/v1`.
   */
  get publicPaths() {
    return this.all
      .filter(({ controller }) => isPublic(controller))
      .flatMap(({ method, paths }) =>
        paths.map((path) => ({
          path: path.replace(PATTERN_CHARACTERS, '\\$&'),
          method: RequestMethod[method],
        })),
      );
  }

  private discover(): Operation[] {
    const scanner = new MetadataScanner();
    const controllers = new DiscoveryService(this.modules).getControllers();
    return controllers.flatMap(({ metatype, host }) => {
      const controller = metatype as Type;
      if (controller === CatchAllController) return [];
      // RouterModule stores the prefix of a module for each application.
      const [prefix] = pathsOf(host!.metatype, MODULE_PATH + this.modules.applicationId);
      const prototype = controller.prototype as Record<string, Handler>;
      const keys = scanner.getAllMethodNames(prototype);
      const routes = keys.filter((key) => Reflect.hasMetadata(METHOD_METADATA, prototype[key]!));
      return routes.map((key): Operation => {
        const handler = prototype[key]!;
        const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
        const documented = Reflect.getMetadata(DECORATORS.API_OPERATION, handler) as
          { operationId?: string } | undefined;
        return {
          id: documented?.operationId ?? key,
          controller,
          handler,
          key,
          name: `${controller.name}.${key}`,
          method: RequestMethod[method] as Operation['method'],
          paths: pathsOf(controller).flatMap((base) =>
            pathsOf(handler).map((path) => join('/', prefix!, base, path).replace(/(?<=.)\/$/, '')),
          ),
        };
      });
    });
  }
}

/** Whether a parameter of the handler has the decorator of this kind, such as `@Body()`. */
export function hasParameter({ controller, key }: Operation, kind: RouteParamtypes): boolean {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, key) ?? {}) as object;
  // The keys of Nest's metadata are `KIND:INDEX`.
  return Object.keys(parameters).some((each) => each.startsWith(`${kind}:`));
}

function pathsOf(target: object, key = PATH_METADATA): string[] {
  return [(Reflect.getMetadata(key, target) ?? '') as string | string[]].flat();
}
