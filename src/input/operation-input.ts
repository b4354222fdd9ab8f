import type { Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import { MetadataScanner } from '@nestjs/core';
import type { Handler } from '../http/request-context.js';

export { RouteParamtypes };

const scanner = new MetadataScanner();

/** Whether a handler has a parameter such as `@Body()`. The keys of Nest's metadata are `KIND:INDEX`. */
export function hasParameter(controller: Type, handler: Handler, kind: RouteParamtypes): boolean {
  const prototype = controller.prototype as Record<string, Handler>;
  // A decorator may have replaced the method by a function of another name.
  const names = scanner.getAllMethodNames(prototype);
  const method = names.find((name) => prototype[name] === handler) ?? handler.name;
  const declared = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) as object;
  return Object.keys(declared ?? {}).some((key) => key.startsWith(`${kind}:`));
}
