import { isDeepStrictEqual } from 'node:util';
import {
  Body,
  type CanActivate,
  Controller,
  HttpCode,
  Param,
  Query,
  RawBody,
  Render,
  Req,
  RequestMethod,
  Res,
  Search,
  Sse,
  UploadedFile,
  UploadedFiles,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  Version,
} from '@nestjs/common';
import {
  APP_FILTER,
  APP_GUARD,
  APP_INTERCEPTOR,
  APP_PIPE,
  ModulesContainer,
  RouterModule,
} from '@nestjs/core';
import { RouteConstraints, RouteSchema } from '@nestjs/platform-fastify';
import { ApiOperation, ApiQuery } from '@nestjs/swagger';
import { SkipThrottle, Throttle } from '@nestjs/throttler';

/**
 * Under which keys Nest's decorators note what they say. Its own names for them are not public, and may be others
 * in the next release: they are learnt from the decorators, which are.
 */
export const NOTED = {
  path: keyOf(Search(probeOf('path')), probeOf('path')),
  method: keyOf(Search(), RequestMethod.SEARCH),
  status: keyOf(HttpCode(299), 299),
  host: keyOfClass(Controller({ host: probeOf('host') }), probeOf('host')),
  version: keyOf(Version(probeOf('version')), probeOf('version')),
  template: keyOf(Render(probeOf('template')), probeOf('template')),
  isStream: keyOf(Sse(), true),
  guards: keyOf(UseGuards(Probe), [Probe]),
  filters: keyOf(UseFilters(Probe), [Probe]),
  interceptors: keyOf(UseInterceptors(Probe), [Probe]),
  pipes: keyOf(UsePipes(Probe), [Probe]),
  parameters: notedOfParameter(Req()).key,
  schema: keyOf(RouteSchema({ body: 'probe' }), { body: 'probe' }),
  constraints: keyOf(RouteConstraints({ version: 'probe' }), { version: 'probe' }),
  isPassedThrough: keyOfParameter(Res({ passthrough: true }), true),
  documentation: keyOf(ApiQuery({ name: 'probe' }), isList),
  operation: keyOf(ApiOperation({ summary: probeOf('summary') }), { summary: probeOf('summary') }),
};

/** Classes or instances that decorators have noted of `target`, as guards and pipes are. */
export function listNoted(target: object, key: string): unknown[] {
  return (Reflect.getMetadata(key, target) ?? []) as unknown[];
}

/** What a parameter is taken from, as Nest counts it. */
export const FROM = {
  request: kindOf(Req()),
  response: kindOf(Res()),
  body: kindOf(Body()),
  rawBody: kindOf(RawBody()),
  query: kindOf(Query()),
  param: kindOf(Param()),
  file: kindOf(UploadedFile()),
  files: kindOf(UploadedFiles()),
};

/** The path that `RouterModule` puts before all of a module's. */
export function pathOfModule(modules: ModulesContainer, module: object): string {
  const key = `${PATH_OF_MODULE}${modules.applicationId}`;
  return (Reflect.getMetadata(key, module) ?? '') as string;
}

const PATH_OF_MODULE = ((): string => {
  class Target {}
  const modules = new ModulesContainer();
  new RouterModule(modules, [{ path: 'probe', module: Target }]);
  const keys: unknown[] = Reflect.getMetadataKeys(Target);
  return found(keys.find((key) => valueIs(Target, key, '/probe'))).slice(
    0,
    -modules.applicationId.length,
  );
})();

const THROTTLING = {
  limit: 1,
  ttl: 2,
  blockDuration: 3,
  getTracker: () => '4',
  generateKey: () => '5',
};
export type Throttling = keyof typeof THROTTLING | 'skip';

/** By the beginnings of their keys, which end with the throttler's name. */
const THROTTLINGS = new Map<string, Throttling>(
  (['skip', ...Object.keys(THROTTLING)] as Throttling[]).map((what) => {
    const [name, value] = ['probe', what === 'skip' || THROTTLING[what]];
    const decorator =
      what === 'skip' ? SkipThrottle({ [name]: true }) : Throttle({ [name]: THROTTLING });
    return [keyOf(decorator, value).slice(0, -name.length), what];
  }),
);

/** What `@Throttle()` and `@SkipThrottle()` say on `target`, and of which throttler. */
export function throttlingOf(
  target: object,
): { what: Throttling; throttler: string; value: unknown }[] {
  return (Reflect.getMetadataKeys(target) as unknown[]).flatMap((key) =>
    Array.from(THROTTLINGS)
      .filter(([beginning]) => typeof key === 'string' && key.startsWith(beginning))
      .map(([beginning, what]) => ({
        what,
        throttler: (key as string).slice(beginning.length),
        value: Reflect.getMetadata(key, target) as unknown,
      })),
  );
}

type Module = ModulesContainer extends Map<string, infer Each> ? Each : never;
type InstanceWrapper = Module['providers'] extends Map<unknown, infer Each> ? Each : never;

/** The classes, or factories, of what a module has judge every request: its `APP_GUARD`s and `APP_INTERCEPTOR`s. */
export function judgesOfAll(module: Module): unknown[] {
  return ofAll(module, JUDGE).map(({ metatype }) => metatype);
}

/** The guards of every request that a module has, its `APP_GUARD`s, in its order. */
export function guardsOfAll(module: Module): CanActivate[] {
  return ofAll(module, GUARD).map(({ instance }) => instance as CanActivate);
}

/** The filters of every request that a module has, its `APP_FILTER`s. */
export function filtersOfAll(module: Module): unknown[] {
  return ofAll(module, FILTER);
}

/** The pipes of every request that a module has, its `APP_PIPE`s: classes, or instances. */
export function pipesOfAll(module: Module): unknown[] {
  return ofAll(module, PIPE).map(({ instance, metatype }) => instance ?? metatype);
}

function ofAll({ providers, injectables }: Module, kind: RegExp): InstanceWrapper[] {
  return [...providers, ...injectables]
    .filter(([token]) => typeof token === 'string' && kind.test(token))
    .map(([, wrapper]) => wrapper);
}

/** To each of them Nest gives a token of its own. */
const JUDGE = new RegExp(`^(?:${APP_GUARD}|${APP_INTERCEPTOR}) `);
const GUARD = new RegExp(`^${APP_GUARD} `);
const FILTER = new RegExp(`^${APP_FILTER} `);
const PIPE = new RegExp(`^${APP_PIPE} `);

/** As Nest notes parameters: by kind and place, `4:0`. */
export function kindOfParameter(key: string): number {
  return Number.parseInt(key);
}

function Probe(): void {}

function isList(value: unknown): boolean {
  return Array.isArray(value);
}

function probeOf(what: string): string {
  return `probe-${what}`;
}

/** The key under which `decorator` notes `value`, or any list. */
function keyOf(decorator: MethodDecorator, value: unknown): string {
  class Target {
    handler(): void {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Target.prototype, 'handler')!;
  decorator(Target.prototype, 'handler', descriptor);
  const handler = descriptor.value as object;
  return found(Reflect.getMetadataKeys(handler).find((key) => valueIs(handler, key, value)));
}

function keyOfClass(decorator: ClassDecorator, value: unknown): string {
  class Target {}
  decorator(Target);
  return found(Reflect.getMetadataKeys(Target).find((key) => valueIs(Target, key, value)));
}

function kindOf(decorator: ParameterDecorator): number {
  return notedOfParameter(decorator).kind;
}

function notedOfParameter(decorator: ParameterDecorator): { key: string; kind: number } {
  class Target {
    handler(): void {}
  }
  decorator(Target.prototype, 'handler', 0);
  const key = found(Reflect.getMetadataKeys(Target, 'handler')[0]);
  const noted = Object.keys(Reflect.getMetadata(key, Target, 'handler') as object);
  return { key, kind: kindOfParameter(found(noted[0])) };
}

/** Of what a decorator of a parameter notes of the whole handler. */
function keyOfParameter(decorator: ParameterDecorator, value: unknown): string {
  class Target {
    handler(): void {}
  }
  decorator(Target.prototype, 'handler', 0);
  const keys = Reflect.getMetadataKeys(Target, 'handler');
  return found(keys.find((key) => Reflect.getMetadata(key, Target, 'handler') === value));
}

function valueIs(target: object, key: unknown, value: unknown): boolean {
  const noted: unknown = Reflect.getMetadata(key, target);
  if (value === isList) return isList(noted);
  return isDeepStrictEqual(noted, value);
}

/** @throws where Nest notes nothing of it any more */
function found(key: unknown): string {
  if (typeof key !== 'string')
    throw new Error('This release of Nest notes its decorators elsewhere');
  return key;
}
