import {
  type ExecutionContext,
  type INestApplication,
  Injectable,
  RequestMethod,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import type { RouteOptions } from 'fastify';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { NOTED, pathOfModule } from './nest-metadata.js';

export type Handler = ReturnType<ExecutionContext['getHandler']>;

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

/**
 * What the metadata of an operation say, worked out once for each. By controller and handler: those that
 * inherit a handler share it, and not what a decorator of theirs says of it.
 */
export class PerOperation<Value> {
  private readonly known = new WeakMap<Type, WeakMap<Handler, { value: Value }>>();

  constructor(private readonly resolve: (controller: Type, handler: Handler) => Value) {}

  of(context: ExecutionContext): Value {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    let ofController = this.known.get(controller);
    if (ofController === undefined) {
      ofController = new WeakMap();
      this.known.set(controller, ofController);
    }
    let found = ofController.get(handler);
    if (found === undefined) {
      found = { value: this.resolve(controller, handler) };
      ofController.set(handler, found);
    }
    return found.value;
  }
}

/**
 * What each operation is called, in the document, in metrics and in the log: as `@ApiOperation()` says, or by its
 * method's name where nothing else has it, else with its controller's. Ours keep theirs, whatever guests call their own.
 */
@Injectable()
export class OperationIds {
  private readonly ids = new Map<Type, Map<Handler, string>>();

  /** Told once all modules are known. @param ours the modules whose operations are ours */
  assign(operations: readonly Operation[], ours: ReadonlySet<Type>): void {
    const taken = new Set<string>();
    const guests: Operation[] = [];
    for (const operation of operations) {
      if (!ours.has(operation.module)) guests.push(operation);
      else this.set(operation, taken, operation.handler.name);
    }
    const counts = new Map<string, number>();
    for (const { handler } of guests) {
      const name = givenId(handler) ?? handler.name;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const operation of guests) {
      const { controller, handler } = operation;
      const isAlone = counts.get(handler.name) === 1 && !taken.has(handler.name);
      const name = isAlone ? handler.name : `${controller.name}_${handler.name}`;
      this.set(operation, taken, unlike(taken, givenId(handler) ?? name));
    }
  }

  of(context: ExecutionContext): string {
    const handler = context.getHandler();
    return this.idOf(context.getClass(), handler) ?? handler.name;
  }

  idOf(controller: Type, handler: Handler): string | undefined {
    return this.ids.get(controller)?.get(handler);
  }

  private set({ controller, handler }: Operation, taken: Set<string>, id: string): void {
    taken.add(id);
    const ofController = this.ids.get(controller) ?? new Map<Handler, string>();
    this.ids.set(controller, ofController.set(handler, id));
  }
}

/** What `@ApiOperation({ operationId })` calls it. */
function givenId(handler: Handler): string | undefined {
  const noted = Reflect.getMetadata(NOTED.operation, handler) as
    { operationId?: string } | undefined;
  return noted?.operationId;
}

/** The name, or the first with a number that nothing has yet. */
export function unlike(taken: ReadonlySet<string>, name: string): string {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) {
    if (!taken.has(`${name}_${number}`)) return `${name}_${number}`;
  }
}

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
