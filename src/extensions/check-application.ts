import type { INestApplication, MiddlewareConsumer, NestModule, Type } from '@nestjs/common';
import {
  GUARDS_METADATA,
  ROUTE_ARGS_METADATA,
  VERSION_METADATA,
} from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import type { FastifyInstance } from 'fastify';
import { DataSource } from 'typeorm';
import { rulesOf } from '../config/settings.js';
import { API_ERRORS, type DocumentedError } from '../errors/api-errors.decorator.js';
import { type Operation, Operations } from '../http/operations.js';
import { isPublic } from '../http/public.decorator.js';
import { isApiTarget } from '../http/target.js';
import { requiredScopesOf } from '../keys/scope.guard.js';
import { Scopes } from '../keys/scopes.js';
import { PlanThrottlerGuard } from '../rate-limits/plan-throttler.guard.js';
import { ExtensionError, repetitions, stopOn } from './check.js';
import { errorsOf, type Extension } from './define.js';

const NO_THROTTLER =
  "the service already applies the quota of the caller's plan; use @Throttle() to limit an operation";
const NO_PARSER = 'the service parses every body as JSON';
const NO_CONNECTION =
  "TypeOrmModule.forRoot() without a name would replace the service's connection, so name it";
/** Names of the functions that body-parser, Express and multer return. */
const PARSER_NAME = /^(?:json|urlencoded|text|raw)Parser$|^bodyParser$|^multerMiddleware$/;
/** Keys of `ROUTE_ARGS_METADATA`. */
const BODY_OR_QUERY = /^[34]:/;
type Parameters = Record<string, { index: number; schema?: unknown }>;

/**
 * Stops the start on operations that cannot be served as declared, and on features of Nest and
 * TypeORM that would silently not work, or would break the service.
 * @returns warnings
 * @throws {ExtensionError} with class and method of every fault
 */
export function checkApplication(
  app: INestApplication,
  extensions: readonly Extension[],
): string[] {
  const operations = app.get(Operations).all;
  const scopes = app.get(Scopes);
  const codes = errorsOf(extensions);
  stopOn([
    ...repetitions(operations.flatMap(declarationsOf)),
    ...operations.flatMap((operation) => [
      ...scopeFaults(operation, scopes),
      ...decoratorFaults(operation),
      ...errorFaults(operation, codes),
    ]),
    ...moduleFaults(app.get(ModulesContainer)),
  ]);
  return operations.flatMap(classesWithoutRules);
}

/**
 * The id and the paths of an operation.
 *
 * Paths are equal if they differ only in the names of parameters. A public operation must not share
 * its path with one under `/v1`: Nest would serve both without the prefix. Fastify itself rejects
 * what `@All()` declares again.
 */
function declarationsOf(operation: Operation): [declared: string, name: string][] {
  const { id, method, paths, name } = operation;
  const resources = paths.map((path) => `${method} ${path.replace(/([:*])\w+/g, '$1id')}`);
  return [`operationId ${id}`, ...resources].map((declared) => [declared, name]);
}

function scopeFaults({ controller, handler, name, paths }: Operation, scopes: Scopes): string[] {
  if (isPublic(controller) && !paths.some(isApiTarget)) return [];
  const required = requiredScopesOf(handler, controller);
  if (required === undefined) return [`${name} has neither @RequireScope(...) nor @AnyScope()`];
  return required
    .filter((scope) => !scopes.has(scope))
    .map((scope) => `${name} requires the scope ${scope}, which no extension declares`);
}

function decoratorFaults({ controller, handler, name }: Operation): string[] {
  return [controller, handler].flatMap((target) => {
    const hasVersion = Reflect.getMetadata(VERSION_METADATA, target) !== undefined;
    const guards = (Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as unknown[];
    return [
      ...(hasVersion ? [`${name}: @Version() is not supported; every operation is under /v1`] : []),
      ...guards.flatMap((guard) => throttlerFaults(name, guard)),
    ];
  });
}

/** `@ApiErrors()` takes the codes of other extensions as text. */
function errorFaults(
  { controller, handler, name }: Operation,
  codes: ReadonlyMap<string, unknown>,
): string[] {
  const noted = [controller, handler].flatMap((target) => {
    return (Reflect.getMetadata(API_ERRORS, target) ?? []) as DocumentedError[];
  });
  return noted
    .filter((each) => typeof each === 'string' && !codes.has(each))
    .map((code) => `${name} documents the error ${String(code)}, which no extension declares`);
}

/** A member without a rule is undeclared. A class of nestjs-zod, for example, has no rules. */
function classesWithoutRules({ controller, key, name }: Operation): string[] {
  const prototype = controller.prototype as object;
  const types = Reflect.getMetadata('design:paramtypes', prototype, key) as Type[] | undefined;
  const given = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, key) as Parameters | undefined;
  return Object.entries(given ?? {})
    .filter(([kind, { schema }]) => BODY_OR_QUERY.test(kind) && schema === undefined)
    .map(([, { index }]) => types?.[index] ?? Object)
    .filter((type) => String(type).startsWith('class ') && rulesOf(type).length === 0)
    .map((type) => `${name} rejects every member of ${type.name}, a class without rules`);
}

function moduleFaults(container: ModulesContainer): string[] {
  const modules = [...container.values()];
  const connections = modules.filter((each) => each.isGlobal && each.providers.has(DataSource));
  const throttlers = modules.filter(({ metatype }) => metatype === ThrottlerModule);
  for (const { metatype, instance } of modules) rejectParsingMiddleware(metatype.name, instance);
  return [
    ...modules.flatMap(({ metatype, providers }) =>
      [...providers.values()].flatMap((provider) =>
        throttlerFaults(metatype.name, provider.instance ?? provider.metatype),
      ),
    ),
    ...(throttlers.length > 1 ? [`ThrottlerModule is not supported; ${NO_THROTTLER}`] : []),
    ...(connections.length > 1 ? [NO_CONNECTION] : []),
  ];
}

/** @param guard a class or an instance */
function throttlerFaults(place: string, guard: unknown): string[] {
  const type = (typeof guard === 'function' ? guard : guard?.constructor) as Type | undefined;
  const isThrottler = type === ThrottlerGuard || type?.prototype instanceof ThrottlerGuard;
  if (!isThrottler || type === PlanThrottlerGuard) return [];
  return [`${place}: ${type.name} is not supported; ${NO_THROTTLER}`];
}

/**
 * Wraps `configure()`, which Nest calls later with its own consumer. There is no other way: once
 * `apply()` has returned, a middleware has lost its name. `checks.e2e-spec.ts` notices a change.
 */
function rejectParsingMiddleware(module: string, instance: Partial<NestModule>): void {
  const configure = instance?.configure?.bind(instance);
  if (configure === undefined) return;
  // eslint-disable-next-line no-restricted-syntax -- see above
  instance.configure = (consumer: MiddlewareConsumer): unknown => {
    const watched = Object.create(consumer) as MiddlewareConsumer;
    // eslint-disable-next-line no-restricted-syntax -- see above
    watched.apply = (...middleware) => {
      const parser = (middleware.flat() as Partial<Type>[]).find((each) =>
        PARSER_NAME.test(String(each.name)),
      );
      if (parser === undefined) return consumer.apply(...middleware);
      throw new ExtensionError([
        `${module}.configure: ${parser.name} is not supported; ${NO_PARSER}`,
      ]);
    };
    return configure(watched);
  };
}

/**
 * Stops the start on a body parser of an extension, which would never be called. Fastify has no
 * list of them. `checks.e2e-spec.ts` notices a change.
 */
export function rejectContentTypeParsers(fastify: FastifyInstance): void {
  const faults: string[] = [];
  // An error that is thrown here, within a plugin, would end the process.
  // eslint-disable-next-line no-restricted-syntax -- see above
  fastify.addContentTypeParser = (type: unknown) => {
    faults.push(`a parser for ${String(type)} is not supported; ${NO_PARSER}`);
    return fastify;
  };
  fastify.addHook('onReady', (done) => {
    done(faults.length > 0 ? new ExtensionError(faults) : undefined);
  });
}
