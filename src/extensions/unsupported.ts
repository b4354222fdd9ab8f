import type { INestApplication, MiddlewareConsumer, NestModule } from '@nestjs/common';
import { GUARDS_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import type { FastifyInstance } from 'fastify';
import { DataSource } from 'typeorm';
import { operationsOf } from '../http/operations.js';
import { PlanThrottlerGuard } from '../rate-limits/plan-throttler.guard.js';
import { ExtensionError } from './check.js';

const NO_THROTTLER =
  "the service already applies the quota of the caller's plan; use @Throttle() for a further limit";
const NO_PARSER = 'the service parses every body as JSON';
/** Names of the functions that body-parser, Express and multer return. */
const PARSER_NAME = /^(?:json|urlencoded|text|raw)Parser$|^bodyParser$|^multerMiddleware$/;

/**
 * Stops the start on features of Nest and TypeORM that would silently not work, or would break the service.
 * @throws {ExtensionError} with the class and method
 */
export function rejectUnsupported(app: INestApplication): void {
  const faults: string[] = [];
  for (const { controller, handler, name } of operationsOf(app)) {
    for (const target of [controller, handler]) {
      if (Reflect.getMetadata(VERSION_METADATA, target) !== undefined) {
        faults.push(`${name}: @Version() is not supported; every operation is under /v1`);
      }
      const guards = (Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as unknown[];
      for (const guard of guards.filter(isOtherThrottler)) faults.push(throttlerFault(name, guard));
    }
  }
  const modules = [...app.get(ModulesContainer).values()];
  for (const { metatype, instance, providers } of modules) {
    for (const provider of providers.values()) {
      const guard: unknown = provider.instance ?? provider.metatype;
      if (isOtherThrottler(guard)) faults.push(throttlerFault(metatype.name, guard));
    }
    rejectParsingMiddleware(metatype.name, instance);
  }
  if (modules.filter(({ metatype }) => metatype === ThrottlerModule).length > 1) {
    faults.push(`ThrottlerModule is not supported; ${NO_THROTTLER}`);
  }
  if (modules.filter((each) => each.isGlobal && each.providers.has(DataSource)).length > 1) {
    faults.push(
      'TypeOrmModule.forRoot() without a name is not supported; its connection would replace that of the service',
    );
  }
  if (faults.length > 0) throw new ExtensionError(faults.join('; '));
}

function throttlerFault(place: string, guard: object): string {
  const { name } = typeof guard === 'function' ? guard : guard.constructor;
  return `${place}: ${name} is not supported; ${NO_THROTTLER}`;
}

function isOtherThrottler(guard: unknown): guard is object {
  const prototype: unknown = typeof guard === 'function' ? guard.prototype : guard;
  const isThrottler = guard === ThrottlerGuard || prototype instanceof ThrottlerGuard;
  return isThrottler && guard !== PlanThrottlerGuard && !(guard instanceof PlanThrottlerGuard);
}

/** Wraps `configure()`, which Nest calls later. */
function rejectParsingMiddleware(module: string, instance: Partial<NestModule>): void {
  const configure = instance?.configure?.bind(instance);
  if (configure === undefined) return;
  instance.configure = (consumer: MiddlewareConsumer): unknown =>
    configure({
      apply: (...middleware) => {
        const parser = middleware
          .flat()
          .find((each) => typeof each === 'function' && PARSER_NAME.test(each.name));
        if (parser === undefined) return consumer.apply(...middleware);
        const { name } = parser as { name: string };
        throw new ExtensionError(`${module}.configure: ${name} is not supported; ${NO_PARSER}`);
      },
    });
}

/** Makes Fastify reject body parsers of extensions, which would never be called. */
export function rejectContentTypeParsers(fastify: FastifyInstance): void {
  fastify.addContentTypeParser = (type: unknown): never => {
    throw new ExtensionError(
      `${callerIn(new Error().stack)}: a parser for ${String(type)} is not supported; ${NO_PARSER}`,
    );
  };
}

const FRAME = /^ +at (?:async )?(new )?([\w$.]+\.)?([\w$]+)(?: \[as (\w+)\])? \(/;
const LIBRARY = /[\\/]node_modules[\\/](?:fastify|avvio|@nestjs)[\\/]|\(node:/;

/** The extension's function on a stack, for example `OrdersModule.onModuleInit`. */
function callerIn(stack = ''): string {
  const frames = stack.split('\n').slice(2);
  const frame = frames.find((each) => FRAME.test(each) && !LIBRARY.test(each));
  const [, isNew, owner = '', called = 'a plugin', alias] = FRAME.exec(frame ?? '') ?? [];
  return isNew ? `${called}.constructor` : owner + (alias ?? called);
}
