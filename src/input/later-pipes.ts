import {
  type ArgumentMetadata,
  type INestApplication,
  StandardSchemaValidationPipe,
  type Type,
  ValidationPipe,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { listNoted, NOTED, pipesOfAll } from '../http/nest-metadata.js';
import { operationsOf } from '../http/operations.js';
import type { ApiRequest, Handler } from '../http/request-context.js';
import { getRequestContext } from '../telemetry/request-context.js';
import type { Dto } from './dto.js';
import { parametersOf, pipesOf } from './operation-input.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What of its operation a guest's own pipe judges: classes, and schemas. */
    judgedLater: ReadonlySet<unknown> | undefined;
  }
}

/** On a class: no pipe of a guest judges what comes by it in our place. */
export const OURS_TO_JUDGE = 'petstore:ours-to-judge';

/** Nest's own, which a guest may bring along; each judges another kind of parameter. */
const JUDGES = [ValidationPipe, StandardSchemaValidationPipe];

/**
 * Nest's `ValidationPipe`, where a guest has one, comes behind our pipe, and would make an instance of an instance:
 * what a transformation changes would be changed twice. So it is given what was sent. What it leaves as it is stays
 * ours.
 */
const origins = new WeakMap<object, { sent: unknown }>();
const followed = new WeakSet<ValidationPipe>();
/** Whether any application of this process has such pipes: where none has, nobody has to look. */
export let areThereLaterJudges = false;
let isAnyFollowed = false;

/** Has the guests' pipes of that kind given what was sent. Told once all modules are known. */
export function followLaterPipes(app: INestApplication): void {
  const modules = [...app.get(ModulesContainer).values()];
  const pipes = [
    ...modules.flatMap(({ providers, injectables }) =>
      [...providers.values(), ...injectables.values()].map(({ instance }): unknown => instance),
    ),
    ...operationsOf(app).flatMap(({ controller, handler }) => pipesOf(controller, handler)),
  ];
  areThereLaterJudges ||= pipes.some((pipe) => JUDGES.some((judge) => isOf(judge, pipe)));
  for (const pipe of pipes) if (pipe instanceof ValidationPipe) follow(pipe);
}

/** A pipe as Nest notes it: its class, or one that was made already. */
function isOf(judge: Type, pipe: unknown): boolean {
  if (pipe instanceof judge) return true;
  return typeof pipe === 'function' && (pipe === judge || pipe.prototype instanceof judge);
}

/** What of an operation's parameters guests have judged by a pipe of Nest's, with options of theirs. */
export function judgedByGuests(
  controller: Type,
  handler: Handler,
  modules: ModulesContainer,
): ReadonlySet<unknown> {
  const ofAll = [
    ...[...modules.values()].flatMap(pipesOfAll),
    ...[controller, handler].flatMap((target) => listNoted(target, NOTED.pipes)),
  ];
  const judged = new Set<unknown>();
  const ours = new Set<unknown>();
  for (const { schema, metatype, pipes } of parametersOf(controller, handler)) {
    const judge = schema === undefined ? ValidationPipe : StandardSchemaValidationPipe;
    const isTheirs = [...ofAll, ...pipes].some((pipe) => isJudge(judge, pipe));
    (isTheirs && !isOursToJudge(metatype) ? judged : ours).add(schema ?? metatype);
  }
  // Two parameters of one class, or schema, cannot be told apart: where one is ours to judge, both are.
  for (const each of ours) judged.delete(each);
  return judged;
}

/** Whether it judges whatever it is given, as Nest's own does: a class of a guest's may leave something out. */
function isJudge(judge: Type, pipe: unknown): boolean {
  if (!isOf(judge, pipe)) return false;
  // Not the `transform` of the pipe itself, which may be replaced: see `follow`.
  const { transform, toValidate } = (
    typeof pipe === 'function' ? pipe.prototype : Object.getPrototypeOf(pipe)
  ) as Judge;
  const own = judge.prototype as Judge;
  const isWhole = transform === own.transform && toValidate === own.toValidate;
  return isWhole && (pipe as Judge).expectedType === undefined;
}
interface Judge {
  transform: unknown;
  toValidate: unknown;
  expectedType?: unknown;
}

function isOursToJudge(type: unknown): boolean {
  return typeof type === 'function' && Reflect.getMetadata(OURS_TO_JUDGE, type) === true;
}

/** Whether a guest's pipe judges what comes by this class, or schema, in the request at hand. */
export function isJudgedLater(by: unknown): boolean {
  if (!areThereLaterJudges) return false;
  const request = getRequestContext() as Partial<ApiRequest> | undefined;
  return request?.judgedLater?.has(by) === true;
}

function follow(pipe: ValidationPipe): void {
  if (followed.has(pipe)) return;
  followed.add(pipe);
  isAnyFollowed = true;
  const transform = pipe.transform.bind(pipe);
  pipe.transform = async (value: unknown, metadata: ArgumentMetadata): Promise<unknown> => {
    const origin = origins.get(value as object);
    if (origin === undefined) return transform(value, metadata);
    if (origin.sent === undefined) return value;
    // A transformation may change what it is given.
    const sent = copyOf(origin.sent);
    const made: unknown = await transform(sent, metadata);
    return made === sent ? value : made;
  };
}

/**
 * Notes what was sent for the instance that `make` makes of it, so that a guest's `ValidationPipe` behind ours can
 * start from that. What is made by hand is left alone: only we can make it.
 */
export function withOrigin(
  dto: Dto,
  sent: Readonly<Record<string, unknown>>,
  make: () => object | Promise<object>,
): object | Promise<object> {
  if (!isAnyFollowed) return make();
  const origin = { sent: dto.parts === undefined ? undefined : copyOf(sent) };
  const note = (instance: object): object => {
    origins.set(instance, origin);
    return instance;
  };
  const instance = make();
  return instance instanceof Promise ? instance.then(note) : note(instance);
}

/** Of JSON. A structured clone would do as well, but be of classes of its own in a test. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]): [string, unknown] => [name, copyOf(member)]),
  );
}
