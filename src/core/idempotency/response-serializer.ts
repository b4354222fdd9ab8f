import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import {
  ClassSerializerInterceptor,
  type ClassSerializerInterceptorOptions,
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
    if (!isObject(result)) return result;
    if ([StreamableFile, Readable, Buffer].some((type) => result instanceof type)) {
      throw new TypeError('@Idempotent() cannot store a file or a stream: return an object');
    }
    const options = this.reflector.getAllAndOverride<ClassSerializerInterceptorOptions | undefined>(
      CLASS_SERIALIZER_OPTIONS,
      [context.getHandler(), context.getClass()],
    );
    const serialize: Serialize = (value) => this.nest.serialize(value, options ?? {});
    return withJsonForms(serialize(result), result, serialize);
  }
}

/**
 * Calls `toJSON()`, which class-transformer does not know, on every object that class-transformer
 * has only copied.
 */
function withJsonForms(plain: unknown, result: unknown, serialize: Serialize): unknown {
  if (!isObject(plain) || !isObject(result) || result instanceof Date) return plain;
  if (typeof result['toJSON'] === 'function') {
    const isCopy = isDeepStrictEqual(plain, serialize(result));
    return isCopy ? (result as unknown as Date).toJSON() : plain;
  }
  for (const name in plain) plain[name] = withJsonForms(plain[name], result[name], serialize);
  return plain;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
