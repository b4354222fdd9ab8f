import {
  type ArgumentMetadata,
  Injectable,
  StandardSchemaValidationPipe,
  ValidationPipe,
} from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import * as validatorPackage from 'class-validator';
import { type Class, isValid, rulesOf } from './fast-validation.js';
import { invalidRequest, notJson, undeclared } from './invalid-request.js';

/**
 * Nest's `ValidationPipe`, which rejects undeclared members and names every fault in one message.
 * In addition to the stock pipe, it rejects names that class-transformer drops silently, and
 * repeated query parameters.
 */
@Injectable()
export class InputPipe extends ValidationPipe {
  /** For `@Body({ schema })` and the like. */
  private readonly schemas = new StandardSchemaValidationPipe();

  constructor() {
    super({ whitelist: true, forbidNonWhitelisted: true, validatorPackage });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, data, metatype = Object, schema } = metadata;
    if (schema !== undefined) return this.schemas.transform(value, metadata);
    const isBody = type === 'body';
    // `@Query('page') page: number` is the string that was sent, as in Nest without a global pipe.
    if (!isBody && data !== undefined) {
      if (!Array.isArray(value) || metatype === Array || metatype === Object) return value;
      throw invalidRequest([`${data} is given twice`]);
    }
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    // A class without rules may be the type of a single value, such as `BigInt`: its pipe converts
    // the value.
    const isDto = this.toValidate(metadata) && (isObject || rulesOf(metatype).length > 0);
    if (!isDto && !isBody) return value;
    if (isDto && !isObject && value !== undefined) {
      throw invalidRequest([`${data ?? 'The body'} must be a JSON object`]);
    }
    const { prototype } = (isDto ? metatype : Object) as { prototype?: object };
    const faults: string[] = [];
    takeInherited(value, type, faults, prototype);
    const given = value ?? {};
    if (type === 'query') takeRepeated(given, metatype, faults);
    const instance = isDto ? convert(metatype, given, type, faults) : given;
    if (isDto && (faults.length > 0 || !isValid(metatype, instance))) {
      const found = await this.validate(instance, this.validatorOptions);
      // No body was sent, and the operation cannot do without one.
      if (found.length > 0 && isBody && value === undefined && !data) throw notJson();
      faults.push(...found.flatMap((each) => messagesOf(each, data ? `${data}.` : '', type)));
    }
    if (faults.length > 0) throw invalidRequest(faults);
    return isDto ? instance : value;
  }
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
 * Takes out members, at any depth, with a name of the prototype, which class-transformer would skip
 * silently.
 */
function takeInherited(
  value: unknown,
  type: string,
  faults: string[],
  prototype: object = Object.prototype,
  parent = '',
): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name in prototype) {
      Reflect.deleteProperty(value, name);
      faults.push(undeclared(parent + name, type));
    } else takeInherited(member, type, faults, undefined, `${parent}${name}.`);
  }
}

/**
 * Leaves the first value of each query parameter that is given twice, unless the type of the member
 * is an array.
 */
function takeRepeated(query: object, dto: Class, faults: string[]): void {
  for (const [name, values] of Object.entries(query) as [string, unknown][]) {
    if (!Array.isArray(values)) continue;
    if (Reflect.getMetadata('design:type', dto.prototype as object, name) === Array) continue;
    Reflect.set(query, name, values[0]);
    faults.push(`${name} is given twice`);
  }
}
