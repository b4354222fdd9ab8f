import type { Type } from '@nestjs/common';
import { kindOfParameter, listNoted, NOTED } from '../http/nest-metadata.js';
import type { Handler } from '../http/request-context.js';

/** What validates by itself (https://standardschema.dev): Zod, Valibot, ArkType. */
export interface StandardSchema {
  readonly '~standard': {
    readonly vendor: string;
    validate(value: unknown): SchemaResult | Promise<SchemaResult>;
    readonly jsonSchema?: Partial<Record<'input' | 'output', ToJsonSchema>>;
  };
}
type ToJsonSchema = (options: {
  target: string;
  libraryOptions?: Record<string, unknown>;
}) => Record<string, unknown>;
export type SchemaResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A parameter of a handler, as its decorators declare it. */
export interface HandlerParameter {
  /** One of `FROM`; undefined for a decorator made with `createParamDecorator`. */
  from: number | undefined;
  /** Of `@Query('page')` the page. */
  name: string | undefined;
  metatype: unknown;
  schema: StandardSchema | undefined;
  /** Those of the parameter itself: classes, or instances. */
  pipes: readonly unknown[];
  factory: object | undefined;
}

interface RouteArgument {
  index: number;
  data?: unknown;
  schema?: StandardSchema;
  pipes?: unknown[];
  factory?: object;
}

/** The one place that reads how Nest notes a handler's parameters. */
export function parametersOf(controller: Type, handler: Handler): HandlerParameter[] {
  const method = methodNameOf(controller, handler);
  const route = (Reflect.getMetadata(NOTED.parameters, controller, method) ?? {}) as Record<
    string,
    RouteArgument
  >;
  const prototype = controller.prototype as object;
  const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as unknown[];
  return Object.entries(route).map(([key, { index, data, schema, pipes = [], factory }]) => ({
    from: factory === undefined ? kindOfParameter(key) : undefined,
    name: typeof data === 'string' ? data : undefined,
    metatype: types[index],
    schema,
    pipes,
    factory,
  }));
}

/** Whether Nest sends the answer, though the handler takes the response. */
export function isPassedThrough(controller: Type, handler: Handler): boolean {
  return Reflect.hasMetadata(NOTED.isPassedThrough, controller, methodNameOf(controller, handler));
}

/** The pipes of an operation, and of its parameters: classes, or instances. */
export function pipesOf(controller: Type, handler: Handler): unknown[] {
  return [
    ...[controller, handler].flatMap((target) => listNoted(target, NOTED.pipes)),
    ...parametersOf(controller, handler).flatMap(({ pipes }) => pipes),
  ];
}

/** What `@ApiQuery()` declares, of the operation and of its controller: by name, whether it is a list. */
export function documentedQuery(controller: Type, handler: Handler): [string, boolean][] {
  return [controller, handler].flatMap((target) => {
    const documented = (Reflect.getMetadata(NOTED.documentation, target) ?? []) as {
      in?: string;
      name?: unknown;
      isArray?: boolean;
      type?: unknown;
      schema?: { type?: unknown };
    }[];
    return documented
      .filter((parameter) => parameter.in === 'query')
      .map(({ name, isArray, type, schema }): [string, boolean] => [
        String(name),
        isArray === true || type === 'array' || Array.isArray(type) || schema?.type === 'array',
      ]);
  });
}

/** A decorator may have put another function in its place: by what it is, not by what it is called. */
function methodNameOf(controller: Type, handler: Handler): string {
  let prototype = controller.prototype as object | null;
  while (prototype !== null && prototype !== Object.prototype) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (value === handler) return name;
    }
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return handler.name;
}
