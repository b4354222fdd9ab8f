import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import {
  ClassSerializerInterceptor,
  type ClassSerializerContextOptions,
  type ExecutionContext,
  Injectable,
  StreamableFile,
} from '@nestjs/common';
import { CLASS_SERIALIZER_OPTIONS } from '@nestjs/common/serializer/class-serializer.constants.js';
import { Reflector } from '@nestjs/core';
import * as transformerPackage from 'class-transformer';

type Serialize = (value: object) => unknown;

/**
 * Makes plain JSON values of what a handler with `@Idempotent()` returns. An interceptor of the
 * controller would come too late: members that it hides would be stored.
 */
@Injectable()
export class ResponseSerializer {
  private readonly nest: ClassSerializerInterceptor;

  constructor(private readonly reflector: Reflector) {
    this.nest = new ClassSerializerInterceptor(reflector, { transformerPackage });
  }

  /** @throws {TypeError} for a file or a stream */
  serialize(context: ExecutionContext, result: unknown): unknown {
    if ([StreamableFile, Readable, Buffer].some((type) => result instanceof type)) {
      throw new TypeError('@Idempotent() cannot store a file or a stream: return an object');
    }
    const options = this.reflector.getAllAndOverride<ClassSerializerContextOptions | undefined>(
      CLASS_SERIALIZER_OPTIONS,
      [context.getHandler(), context.getClass()],
    );
    return toJson(result, (value) => this.nest.serialize(value, options ?? {}));
  }
}

/** Also calls `toJSON()`, which class-transformer does not know. */
function toJson(value: unknown, serialize: Serialize): unknown {
  if (!isObject(value)) return value;
  const form = hasJsonForm(value) ? value.toJSON() : value;
  return isObject(form) ? withJsonForms(serialize(form), form, serialize) : form;
}

/** Replaces each member that class-transformer has only copied, and that has a JSON form. */
function withJsonForms(plain: unknown, value: unknown, serialize: Serialize): unknown {
  if (!isObject(plain) || !isObject(value)) return plain;
  for (const name in plain) {
    const member = value[name];
    const isCopy = hasJsonForm(member) && isDeepStrictEqual(plain[name], serialize(member));
    plain[name] = isCopy
      ? toJson(member, serialize)
      : withJsonForms(plain[name], member, serialize);
  }
  return plain;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function hasJsonForm(value: unknown): value is { toJSON: () => unknown } {
  return isObject(value) && typeof value['toJSON'] === 'function';
}
