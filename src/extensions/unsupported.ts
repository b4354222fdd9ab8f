import type { INestApplication, MiddlewareConsumer, NestModule, Type } from '@nestjs/common';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { DataSource } from 'typeorm';
import { FROM, listNoted, NOTED, type Throttling, throttlingOf } from '../http/nest-metadata.js';
import { type Operation, operationOfRoute, operationsOf } from '../http/operations.js';
import { type Handler, isPublic, NEEDS_CALLER } from '../http/request-context.js';
import { isApiTarget } from '../http/target.js';
import { isIdempotent } from '../idempotency/idempotent.decorator.js';
import { type HandlerParameter, isPassedThrough, parametersOf } from '../input/operation-input.js';
import { untypedMember } from '../input/untyped-members.js';
import { REQUIRED_SCOPES } from '../keys/scope.guard.js';
import { PLAN_THROTTLER, PlanThrottlerGuard } from '../rate-limits/plan-throttler.guard.js';

/** Of `@Throttle()`, what no shared window can do. */
const UNSHAREABLE: readonly Throttling[] = ['blockDuration', 'getTracker', 'generateKey'];
/** What only a body parser of one's own could give. */
const OWN_PARSER = new Map<number | undefined, string>([
  [FROM.file, '@UploadedFile()'],
  [FROM.files, '@UploadedFiles()'],
  [FROM.rawBody, '@RawBody()'],
]);
/** What is judged by the rules of its class. */
const JUDGED: readonly (number | undefined)[] = [FROM.body, FROM.query, FROM.param];
const NO_PARSER = 'is not supported: a body is JSON, and has no other parser';
/** It would count for itself, and tell of that in our headers. */
const NO_THROTTLER =
  "is not supported: every operation has the quota of its caller's plan, to which @Throttle() adds a limit";
/** As `@nestjs/websockets` and `@nestjs/microservices` note it: we have neither, to learn it from their decorators. */
const GATEWAY = 'websockets:is_gateway';
const MESSAGE_HANDLER = 'microservices:pattern';
/** What the router takes as a pattern, or literally, and the document cannot say; `(^...)` it leaves out. */
const PATTERN = /[?+!(){}[\]]|\*./;
/** As `body-parser`, and Express with it, names what it makes; and `multer`. */
const PARSING_MIDDLEWARE = /^(?:json|urlencoded|text|raw)Parser$|^bodyParser$|^multerMiddleware$/;

/** A guest asks for what this service cannot honour; it is not started, and nothing silently ignored. */
export class UnsupportedOperationError extends Error {}

/** @throws {UnsupportedOperationError} that names class and method */
export function refuseUnsupported(app: INestApplication): void {
  for (const { controller, handler, name, paths } of operationsOf(app)) {
    const reason = unsupportedPath(paths) ?? unsupportedOf(controller, handler);
    if (reason !== undefined) throw new UnsupportedOperationError(`${name}: ${reason}`);
  }
  const modules = [...app.get(ModulesContainer).values()];
  for (const { metatype, instance, providers, injectables, controllers } of modules) {
    const guard = [...providers.values(), ...injectables.values()]
      .flatMap((each) => [each.metatype, each.instance])
      .find(isThrottlerGuard);
    if (guard !== undefined) {
      throw new UnsupportedOperationError(
        `${metatype.name}: ${nameOfClass(guard)} ${NO_THROTTLER}`,
      );
    }
    const reason = [...providers.values(), ...controllers.values()]
      .map((each) => unservedBy(each.metatype))
      .find((each) => each !== undefined);
    if (reason !== undefined) {
      throw new UnsupportedOperationError(`${metatype.name}: ${reason}`);
    }
    refuseParsing(metatype.name, instance);
  }
  if (modules.filter(({ metatype }) => metatype === ThrottlerModule).length > 1) {
    throw new UnsupportedOperationError(`A ThrottlerModule of one's own ${NO_THROTTLER}`);
  }
  // What is global is everybody's: ours would write to it.
  if (modules.filter((each) => each.isGlobal && each.providers.has(DataSource)).length > 1) {
    throw new UnsupportedOperationError(
      "TypeOrmModule.forRoot() without a name is not supported: its connection would replace the service's own; give it a name",
    );
  }
}

/** What a class waits for that never comes here by HTTP; of a provider without a class there is nothing to ask. */
function unservedBy(type: Type | object | null): string | undefined {
  if (typeof type !== 'function') return undefined;
  if (Reflect.hasMetadata(GATEWAY, type)) {
    return `@WebSocketGateway() ${type.name} is not supported: nobody would ask for its callers' keys`;
  }
  const methods = type.prototype as Record<string, Handler> | undefined;
  const handler = new MetadataScanner()
    .getAllMethodNames(methods ?? null)
    .find((name) => Reflect.hasMetadata(MESSAGE_HANDLER, methods![name]!));
  return (
    handler &&
    `${type.name}.${handler}: @MessagePattern() and @EventPattern() are not supported: no microservice is connected`
  );
}

/** Any but ours: the class of one, or one that was made already. */
function isThrottlerGuard(guard: unknown): guard is object {
  const type = typeof guard === 'function' ? (guard.prototype as unknown) : guard;
  const isOurs = guard === PlanThrottlerGuard || guard instanceof PlanThrottlerGuard;
  return (guard === ThrottlerGuard || type instanceof ThrottlerGuard) && !isOurs;
}

function nameOfClass(guard: object): string {
  return typeof guard === 'function' ? guard.name : guard.constructor.name;
}

/**
 * Has Fastify refuse a body parser: no body would ever reach it.
 * @throws {UnsupportedOperationError} that names who adds it; from there on
 */
export function refuseParsers(transport: FastifyInstance): void {
  Object.assign(transport, {
    addContentTypeParser: (type: unknown): never => {
      throw new UnsupportedOperationError(
        `${callerIn(new Error().stack)}: a parser of ${String(type)} ${NO_PARSER}`,
      );
    },
  });
}

/**
 * Has Fastify refuse a route below `/v1` that no controller has: no guard would be asked.
 * @returns what is to be told of the operations once they are there; before, no route is a controller's
 * @throws {UnsupportedOperationError} that names the route and who adds it; from there on
 */
export function refuseRoutes(
  transport: FastifyInstance,
): (operations: readonly Operation[]) => void {
  let operationOf: ReturnType<typeof operationOfRoute> = () => undefined;
  transport.addHook('onRoute', (route) => {
    if (!isApiTarget(route.url)) return;
    if (!isConstrained(route) && operationOf(route) !== undefined) return;
    const said = `${[route.method].flat().join()} ${route.url}`;
    throw new UnsupportedOperationError(
      `${callerIn(new Error().stack)}: the route ${said} is not supported: nobody would ask for its callers' keys; use a controller`,
    );
  });
  return (operations) => {
    operationOf = operationOfRoute(operations);
  };
}

/** As none of a controller is; it may have the path of one. */
function isConstrained({ constraints = {} }: RouteOptions): boolean {
  return Object.keys(constraints).length > 0;
}

/** Who called the function that made `stack`, as `OrdersModule.onModuleInit`; a plugin has no class. */
function callerIn(stack = ''): string {
  // Its message, and the function itself.
  const callers = stack.split('\n').slice(2);
  for (const frame of callers.filter((each) => !BETWEEN.test(each))) {
    const [, made, owner = '', called, alias] = FRAME.exec(frame) ?? [];
    if (called === undefined) continue;
    return made === undefined ? owner + (alias ?? called) : `${called}.constructor`;
  }
  return 'A plugin';
}

const FRAME = /^ +at (?:async )?(new )?([\w$.]+\.)?([\w$]+)(?: \[as (\w+)\])? \(/;
/** Frames of what a guest calls, or is called by. */
const BETWEEN = /[\\/]node_modules[\\/](?:fastify|avvio|@nestjs)[\\/]|\(node:/;

/** What the module's `configure()` applies is seen when Nest calls it. */
function refuseParsing(module: string, instance: Partial<NestModule>): void {
  const configure = instance?.configure;
  if (configure === undefined) return;
  instance.configure = function (consumer) {
    const seeing: MiddlewareConsumer = {
      apply: (...middleware) => {
        const parser = middleware.flat().find(isParser);
        if (parser === undefined) return consumer.apply(...middleware);
        const { name } = parser as { name: string };
        throw new UnsupportedOperationError(`${module}.configure: ${name} ${NO_PARSER}`);
      },
    };
    return configure.call(this, seeing) as unknown;
  };
}

function isParser(middleware: unknown): boolean {
  return typeof middleware === 'function' && PARSING_MIDDLEWARE.test(middleware.name);
}

function unsupportedPath(paths: readonly string[]): string | undefined {
  const path = paths.find((each) => PATTERN.test(each.replace(/\(\^[^)]+\)/g, '')));
  return (
    path &&
    `the path ${path} is not supported: a parameter is written :name, the rest of a path *, and nothing else`
  );
}

function unsupportedOf(controller: Type, handler: Handler): string | undefined {
  const targets = [controller, handler];
  if (Reflect.getMetadata(NOTED.host, controller) !== undefined) {
    return '@Controller({ host }) is not supported: every host is answered alike';
  }
  if (Reflect.hasMetadata(NOTED.schema, handler)) {
    return '@RouteSchema() is not supported: it would be judged before the key; use a DTO, or @Body({ schema })';
  }
  if (targets.some((target) => Reflect.hasMetadata(NOTED.constraints, target))) {
    return '@RouteConstraints() is not supported: every host and version is answered alike';
  }
  const guard = targets.flatMap((target) => listNoted(target, NOTED.guards)).find(isThrottlerGuard);
  if (guard !== undefined) return `${nameOfClass(guard)} ${NO_THROTTLER}`;
  if (Reflect.hasMetadata(NOTED.isStream, handler)) return '@Sse() is not supported';
  if (targets.some((target) => Reflect.getMetadata(NOTED.version, target) !== undefined)) {
    return '@Version() is not supported: every operation is under /v1';
  }
  if (Reflect.hasMetadata(NOTED.template, handler)) {
    return '@Render() is not supported: there is no engine for templates';
  }
  const parameters = parametersOf(controller, handler);
  const parsed = parameters.find(({ from }) => OWN_PARSER.has(from));
  if (parsed !== undefined) return `${OWN_PARSER.get(parsed.from)} ${NO_PARSER}`;
  const takesResponse = parameters.some(({ from }) => from === FROM.response);
  if (isIdempotent(handler) && takesResponse && !isPassedThrough(controller, handler)) {
    return '@Idempotent() with @Res() is not supported: return the answer, it is remembered before it is sent';
  }
  const untyped = parameters
    .filter(({ from, schema }) => JUDGED.includes(from) && schema === undefined)
    .map(({ metatype }) => untypedMember(metatype))
    .find((member) => member !== undefined);
  if (untyped !== undefined) {
    return `${untyped} has @ValidateNested() and no @Type(): no rule below it would be asked`;
  }
  const throttle = targets.map(unsupportedThrottle).find((reason) => reason !== undefined);
  if (throttle !== undefined || !isPublic(controller)) return throttle;
  const needing = [...targets.map(needsCaller), ...parameters.map(nameOfNeeding)].find(
    (decorator) => decorator !== undefined,
  );
  return needing && `${needing} needs a caller, and there is none where a controller is @Public()`;
}

function needsCaller(target: object): string | undefined {
  if (Reflect.hasMetadata(REQUIRED_SCOPES, target)) return '@RequireScope() or @AnyScope()';
  if (isIdempotent(target)) return '@Idempotent()';
  return throttlingOf(target).some(({ what }) => what === 'limit') ? '@Throttle()' : undefined;
}

function nameOfNeeding({ factory }: HandlerParameter): string | undefined {
  if (factory === undefined) return undefined;
  return Reflect.getMetadata(NEEDS_CALLER, factory) as string | undefined;
}

function unsupportedThrottle(target: object): string | undefined {
  for (const { what, throttler, value } of throttlingOf(target)) {
    if (throttler !== PLAN_THROTTLER) {
      return `there is no throttler "${throttler}", only "${PLAN_THROTTLER}"`;
    }
    if (UNSHAREABLE.includes(what) && value !== undefined) {
      return '@Throttle() takes limit and ttl, and nothing else';
    }
    const least = what === 'ttl' ? 1 : 0;
    if (typeof value === 'number' && !(Number.isInteger(value) && value >= least)) {
      return `@Throttle() takes whole numbers: ${what} cannot be ${value}`;
    }
  }
  return undefined;
}
