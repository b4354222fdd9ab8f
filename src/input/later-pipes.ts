import { type ArgumentMetadata, type INestApplication, ValidationPipe } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { operationsOf } from '../http/operations.js';
import type { Dto } from './dto.js';
import { pipesOf } from './operation-input.js';
import { validated } from './validation.js';

/**
 * Nest's `ValidationPipe`, where a guest has one, comes behind our pipe, and would make an instance of an instance:
 * what a transformation changes would be changed twice. So it is given what was sent. What it leaves as it is stays
 * ours.
 */
const origins = new WeakMap<object, { sent: unknown }>();
const followed = new WeakSet<ValidationPipe>();
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
  for (const pipe of pipes) if (pipe instanceof ValidationPipe) follow(pipe);
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
 * A DTO of what was sent, which is noted for those who come later: of one that is made by hand, that nobody else can.
 * @throws {ApiError} as `validated`
 */
export function made(dto: Dto, sent: Readonly<Record<string, unknown>>): object | Promise<object> {
  if (!isAnyFollowed) return validated(dto, sent);
  const origin = { sent: dto.isMadeByHand ? undefined : copyOf(sent) };
  const note = (instance: object): object => {
    origins.set(instance, origin);
    return instance;
  };
  const instance = validated(dto, sent);
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
