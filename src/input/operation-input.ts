import type { Type } from '@nestjs/common';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import { MetadataScanner } from '@nestjs/core';
import type { Handler } from '../http/request-context.js';

export { RouteParamtypes };

/** A parameter of a handler, as its decorator declares it. */
export interface HandlerParameter {
  /** Undefined for a decorator made with `createParamDecorator`. */
  kind: RouteParamtypes | undefined;
  /** `page` in `@Query('page')`. */
  name: string | undefined;
  metatype: unknown;
  pipes: readonly unknown[];
}

interface RouteArgument {
  index: number;
  data?: unknown;
  pipes?: unknown[];
  factory?: object;
}

const scanner = new MetadataScanner();

/** Reads Nest's metadata of a handler's parameters. */
export function parametersOf(controller: Type, handler: Handler): HandlerParameter[] {
  const prototype = controller.prototype as Record<string, Handler>;
  // A decorator may have replaced the method by a function of another name.
  const names = scanner.getAllMethodNames(prototype);
  const method = names.find((name) => prototype[name] === handler) ?? handler.name;
  const declared = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<
    string,
    RouteArgument
  >;
  const types = (Reflect.getMetadata(PARAMTYPES_METADATA, prototype, method) ?? []) as unknown[];
  return Object.entries(declared).map(([key, { index, data, pipes = [], factory }]) => ({
    kind: factory === undefined ? (Number(key.split(':')[0]) as RouteParamtypes) : undefined,
    name: typeof data === 'string' ? data : undefined,
    metatype: types[index],
    pipes,
  }));
}
