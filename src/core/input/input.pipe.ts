import {
  type ArgumentMetadata,
  Injectable,
  StandardSchemaValidationPipe,
  ValidationPipe,
} from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import * as validatorPackage from 'class-validator';
import { rulesOf } from '../config/settings.js';
import { invalidRequest, undeclared, unsupported } from './invalid-request.js';

type Class = NonNullable<ArgumentMetadata['metatype']>;

/**
 * Nest's `ValidationPipe`, which rejects undeclared members and names every fault in one message.
 * In addition to the stock pipe, it rejects names that class-transformer drops silently, and
 * repeated query parameters.
 */
@Injectable()
export class InputPipe extends ValidationPipe {
  private readonly schemas = new StandardSchemaValidationPipe();

  constructor() {
    super({ whitelist: true, forbidNonWhitelisted: true, validatorPackage });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, data, schema } = metadata;
    if (schema !== undefined) return this.schemas.transform(value, metadata);
    // The bytes of `@AcceptsBody()`.
    if (Buffer.isBuffer(value)) return value;
    if (type !== 'body' && data !== undefined) return singleParameter(value, metadata);
    return this.isDto(value, metadata) ? this.toDto(value, metadata) : withoutDto(value, metadata);
  }

  /** A class without rules may be the type of one value, such as `BigInt`: its pipe converts it. */
  private isDto(value: unknown, metadata: ArgumentMetadata): boolean {
    return this.toValidate(metadata) && (isObject(value) || rulesOf(metadata.metatype!).length > 0);
  }

  private async toDto(value: unknown, { type, data, metatype }: ArgumentMetadata): Promise<object> {
    if (value !== undefined && !isObject(value)) {
      throw invalidRequest([`${data ?? 'The body'} must be a JSON object`]);
    }
    const dto = metatype!;
    const given = value ?? {};
    const faults = removeBuiltIn(given, type, dto.prototype as object);
    if (type === 'query') faults.push(...removeRepeated(given, dto));
    const instance = convert(dto, given, type, faults);
    const found = await this.validate(instance, this.validatorOptions);
    // No body was sent, and the operation cannot do without one.
    if (found.length > 0 && type === 'body' && value === undefined && !data) throw unsupported();
    const parent = data ? `${data}.` : '';
    faults.push(...found.flatMap((each) => messagesOf(each, parent, type)));
    if (faults.length > 0) throw invalidRequest(faults);
    return instance;
  }
}

/**
 * `@Query('page') page: number` is the string that was sent, as in Nest without a global pipe.
 * @throws {ApiError} 400 for a repeated parameter, unless its type is an array
 */
function singleParameter(value: unknown, { data, metatype = Object }: ArgumentMetadata): unknown {
  if (!Array.isArray(value) || metatype === Array || metatype === Object) return value;
  throw invalidRequest([`${data} appears more than once`]);
}

/** A value without a DTO: only its names are checked, in a body. */
function withoutDto(value: unknown, { type }: ArgumentMetadata): unknown {
  const faults = type === 'body' ? removeBuiltIn(value, type) : [];
  if (faults.length > 0) throw invalidRequest(faults);
  return value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws {ApiError} 400 if a `@Transform()` cannot convert a value */
function convert(dto: Class, given: object, type: string, faults: readonly string[]): object {
  try {
    return plainToInstance(dto, given) as object;
  } catch (cause) {
    throw invalidRequest([...faults, `The ${type} has a value of the wrong type`], cause);
  }
}

function messagesOf(
  { property, constraints = {}, children = [] }: validatorPackage.ValidationError,
  parent: string,
  type: string,
): string[] {
  const own = Object.entries(constraints).map(([rule, message]) =>
    rule === 'whitelistValidation' ? undeclared(parent + property, type) : parent + message,
  );
  return [...own, ...children.flatMap((each) => messagesOf(each, `${parent + property}.`, type))];
}

/**
 * Removes members, at any depth, that are named after built-in properties such as `constructor`,
 * which class-transformer would skip silently.
 * @returns a fault for each
 */
function removeBuiltIn(
  value: unknown,
  type: string,
  prototype: object = Object.prototype,
  parent = '',
): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (!(name in prototype)) return removeBuiltIn(member, type, undefined, `${parent}${name}.`);
    Reflect.deleteProperty(value, name);
    return [undeclared(parent + name, type)];
  });
}

/**
 * Keeps only the first value of each repeated query parameter, unless the type of the member is an
 * array.
 * @returns a fault for each
 */
function removeRepeated(query: object, dto: Class): string[] {
  return Object.entries(query).flatMap(([name, values]) => {
    const isList = Reflect.getMetadata('design:type', dto.prototype as object, name) === Array;
    if (!Array.isArray(values) || isList) return [];
    Reflect.set(query, name, values[0]);
    return [`${name} appears more than once`];
  });
}
