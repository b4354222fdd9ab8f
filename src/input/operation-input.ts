import type { Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import { MetadataScanner } from '@nestjs/core';
import type { Handler } from '../http/request-context.js';

export { RouteParamtypes };

type RouteArguments = Record<string, { pipes?: unknown[] }>;

const scanner = new MetadataScanner();

/** Reads Nest's metadata of a handler's parameters. `kind` is NaN for decorators made with `createParamDecorator`. */
export function parametersOf(
  controller: Type,
  handler: Handler,
): { kind: RouteParamtypes; pipes: readonly unknown[] }[] {
  const prototype = controller.prototype as Record<string, Handler>;
  // A decorator may have replaced the method by a function of another name.
  const names = scanner.getAllMethodNames(prototype);
  const method = names.find((name) => prototype[name] === handler) ?? handler.name;
  const declared = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) as
    RouteArguments | undefined;
  return Object.entries(declared ?? {}).map(([key, { pipes = [] }]) => ({
    kind: Number(key.split(':')[0]),
    pipes,
  }));
}
