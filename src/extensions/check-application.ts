import type { ClassSerializerContextOptions, INestApplication, Type } from '@nestjs/common';
import {
  GUARDS_METADATA,
  INTERCEPTORS_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  VERSION_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import { CLASS_SERIALIZER_OPTIONS } from '@nestjs/common/serializer/class-serializer.constants.js';
import { ModulesContainer } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { DataSource } from 'typeorm';
import { API_ERRORS, type DocumentedError } from '../core/errors/api-errors.decorator.js';
import { bodyRulesOfHandler, MAX_BODY_BYTES } from '../core/http/body.decorators.js';
import { hasParameter, type Operation, Operations } from '../core/http/operations.js';
import { isPublic } from '../core/http/public.decorator.js';
import type { Handler } from '../core/http/request.js';
import { isApiTarget } from '../core/http/target.js';
import { IdempotencyInterceptor } from '../core/idempotency/idempotent.decorator.js';
import { requiredScopesOf } from '../core/keys/scope.guard.js';
import { Scopes } from '../core/keys/scopes.js';
import { PlanThrottlerGuard } from '../core/rate-limits/plan-throttler.guard.js';
import { repetitions, stopOn } from './check.js';
import { errorsOf, type Extension, nameOf } from './define.js';

type Options = ClassSerializerContextOptions | undefined;

const NO_THROTTLER =
  "the service already applies the quota of the caller's plan; use @Throttle() to limit an operation";
const NO_CONNECTION =
  "TypeOrmModule.forRoot() without a name would replace the service's connection, so name it";
const NO_GRAPHQL =
  'GraphQLModule is not supported, because its queries would bypass keys and quotas; run them in a controller';
const NO_GATEWAY =
  '@WebSocketGateway() is not supported, because its messages would bypass keys and quotas; use @Sse()';
const NO_PREFIX =
  'its path begins with v1, which every path gets unless its controller is @Public(); remove it';
const NO_CALLER =
  'a @Public() operation has no caller, so remove @RequireScope(), @AnyScope() and @Idempotent()';
const NO_RESPONSE =
  '@Idempotent() cannot store what @Res() sends; return it, or use @Res({ passthrough: true })';
const NO_SECOND_TIME =
  '@Idempotent() cannot serialize with strategy or type; return an object with @Exclude() members';
const PATH_RULE =
  'end each :name at /, - or . and check its form with a pipe; a wildcard must follow a segment';
/** The paths that Fastify and the generator of the document read alike. `::` is a colon. */
const PATH = /^(?!\/\*)(?:[^:*(){}[\]+?!\\]|::|:[A-Za-z_]\w*(?![^/.-]))*(?:(?<=\/)\*\w*)?$/;
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;
/** What the decorator sets. @nestjs/websockets is no dependency of the service. */
const GATEWAY_METADATA = 'websockets:is_gateway';

/**
 * Stops the start on operations that cannot be served as declared, and on features of Nest and
 * TypeORM that would bypass keys and quotas or replace a part of the service. It reads metadata
 * only, before the modules start.
 * @throws {ConfigError} with class and method of every fault
 */
export function checkApplication(app: INestApplication, extensions: readonly Extension[]): void {
  const operations = app.get(Operations).all;
  const scopes = app.get(Scopes);
  const codes = errorsOf(extensions);
  stopOn([
    ...repetitions(operations.flatMap(declarationsOf)),
    ...operations.flatMap((operation) => [
      ...pathFaults(operation),
      ...scopeFaults(operation, scopes),
      ...decoratorFaults(operation),
      ...errorFaults(operation, codes),
      ...bodyFaults(operation),
      ...idempotencyFaults(operation),
    ]),
    ...moduleFaults(app.get(ModulesContainer)),
    ...extensions.flatMap((each) => verifierFaults(each, app.get(ModulesContainer))),
  ]);
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
  const resources = paths.map((path) => `${method} ${path.replace(/(?<!:)([:*])\w+/g, '$1id')}`);
  return [`operationId ${id}`, ...resources].map((declared) => [declared, name]);
}

function pathFaults({ name, paths }: Operation): string[] {
  return paths
    .filter((path) => !PATH.test(path))
    .map((path) => `${name}: the path ${path} is not supported; ${PATH_RULE}`);
}

function scopeFaults({ controller, handler, name, paths }: Operation, scopes: Scopes): string[] {
  const required = requiredScopesOf(handler, controller);
  if (paths.some(isApiTarget)) return [`${name}: ${NO_PREFIX}`];
  if (isPublic(controller)) {
    return required || isIdempotent(handler) ? [`${name}: ${NO_CALLER}`] : [];
  }
  if (required === undefined) return [`${name} has neither @RequireScope(...) nor @AnyScope()`];
  return required
    .filter((scope) => !scopes.has(scope))
    .map((scope) => `${name} requires the scope ${scope}, which no extension declares`);
}

function isIdempotent(handler: Handler): boolean {
  const interceptors = (Reflect.getMetadata(INTERCEPTORS_METADATA, handler) ?? []) as unknown[];
  return interceptors.includes(IdempotencyInterceptor);
}

function idempotencyFaults(operation: Operation): string[] {
  const { controller, handler, key, name } = operation;
  if (!isIdempotent(handler)) return [];
  const sendsItself =
    hasParameter(operation, RouteParamtypes.RESPONSE) &&
    !Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, key);
  const options = [handler, controller].map(
    (target) => Reflect.getMetadata(CLASS_SERIALIZER_OPTIONS, target) as Options,
  );
  // A serializer of the controller gets the stored response as well, and would apply them again.
  const appliesTwice = options.some((each) => each?.strategy ?? each?.type);
  return [
    ...(sendsItself ? [`${name}: ${NO_RESPONSE}`] : []),
    ...(appliesTwice ? [`${name}: ${NO_SECOND_TIME}`] : []),
  ];
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
    .filter((each): each is string => typeof each === 'string' && !codes.has(each))
    .map((code) => `${name} documents the error ${code}, which no extension declares`);
}

function bodyFaults({ handler, name }: Operation): string[] {
  const { bytes, values, types = [] } = bodyRulesOfHandler(handler);
  const limits = Object.entries({ bytes, values }).filter(
    ([, limit]) => !Number.isInteger(limit) || limit < 1 || limit > MAX_BODY_BYTES,
  );
  return [
    ...limits.map(
      ([limit, value]) =>
        `${name}: ${limit} of @BodyLimit() must be an integer between 1 and ${MAX_BODY_BYTES}, ` +
        `not ${value}`,
    ),
    ...types
      .filter((type) => !MEDIA_TYPE.test(type))
      .map((type) => `${name}: @AcceptsBody() takes media types such as image/png, not ${type}`),
  ];
}

function moduleFaults(container: ModulesContainer): string[] {
  const modules = [...container.values()];
  const connections = modules.filter((each) => each.isGlobal && each.providers.has(DataSource));
  const throttlers = modules.filter(({ metatype }) => metatype === ThrottlerModule);
  return [
    ...modules.flatMap(({ metatype, imports, providers }) => [
      ...[...imports]
        .filter((imported) => imported.metatype.name === 'GraphQLModule')
        .map(() => `${metatype.name}: ${NO_GRAPHQL}`),
      ...[...providers.values()].flatMap((provider) => [
        ...throttlerFaults(metatype.name, provider.instance ?? provider.metatype),
        ...gatewayFaults(provider.metatype),
      ]),
    ]),
    ...(throttlers.length > 1 ? [`ThrottlerModule is not supported; ${NO_THROTTLER}`] : []),
    ...(connections.length > 1 ? [NO_CONNECTION] : []),
  ];
}

/** A verifier that is a class comes from Nest. */
function verifierFaults(extension: Extension, container: ModulesContainer): string[] {
  const { verifier } = extension;
  if (typeof verifier !== 'function') return [];
  if ([...container.values()].some(({ providers }) => providers.has(verifier))) return [];
  return [`extension ${nameOf(extension)}: add ${verifier.name} to the providers of its module`];
}

/** @param guard a class or an instance */
function throttlerFaults(place: string, guard: unknown): string[] {
  const type = (typeof guard === 'function' ? guard : guard?.constructor) as Type | undefined;
  const isThrottler = type === ThrottlerGuard || type?.prototype instanceof ThrottlerGuard;
  if (!isThrottler || type === PlanThrottlerGuard) return [];
  return [`${place}: ${type.name} is not supported; ${NO_THROTTLER}`];
}

function gatewayFaults(type: object | null): string[] {
  const isGateway = typeof type === 'function' && Reflect.hasMetadata(GATEWAY_METADATA, type);
  return isGateway ? [`${type.name}: ${NO_GATEWAY}`] : [];
}
