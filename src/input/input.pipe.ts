import { type ArgumentMetadata, HttpException, Injectable, ValidationPipe } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import { getMetadataStorage, type ValidationError, type ValidatorOptions } from 'class-validator';
import { isCertainlyValid } from './fast-validation.js';
import { invalidRequest, notJson, quoteForMessage } from './invalid-request.js';

type Class = NonNullable<ArgumentMetadata['metatype']>;

/**
 * Nest's `ValidationPipe`, which rejects undeclared members and names every fault in one message. In addition to the
 * stock pipe, it rejects names that class-transformer drops silently, ill-formed text and repeated query parameters.
 */
@Injectable()
export class InputPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      exceptionFactory: (found) => new InvalidInput(found),
    });
  }

  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    // A parameter that is not validated, such as `@Param('id')`: the stock pipe would return it as well, later.
    if (metadata.type !== 'body' && !this.toValidate(metadata)) return Promise.resolve(value);
    return this.validateInput(value, metadata);
  }

  private async validateInput(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const faults = this.takeFaults(value, metadata);
    let cause: unknown;
    try {
      const result: unknown = await super.transform(value, metadata);
      if (faults.length === 0) return result;
    } catch (error) {
      // No body was sent, and the operation cannot do without one.
      if (metadata.type === 'body' && value === undefined && !metadata.data) throw notJson();
      faults.push(...faultsOf(error, metadata));
      cause = error;
    }
    throw invalidRequest(faults, cause);
  }

  /** Removes from `value`, and reports, what the stock pipe would ignore or accept although nothing declares it. */
  private takeFaults(value: unknown, metadata: ArgumentMetadata): string[] {
    const { type, data, metatype } = metadata;
    const dto = metatype !== undefined && this.toValidate(metadata) ? metatype : undefined;
    if (type === 'body') {
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      if (dto && value !== undefined && !isObject) {
        const name = typeof data === 'string' ? data : 'The body';
        throw invalidRequest([`${name} must be a JSON object`]);
      }
      return takeNames(value, type, dto ? namesOf(dto) : STRIPPED, dto ? INHERITED : STRIPPED);
    }
    if (type !== 'query' || data !== undefined || !dto) return [];
    const faults = takeNames(value, type, namesOf(dto), INHERITED);
    return [...faults, ...takeRepeated(value as Record<string, unknown>, dto)];
  }

  /** A value with a schema is validated by Nest's `StandardSchemaValidationPipe`. */
  protected override toValidate(metadata: ArgumentMetadata): boolean {
    const isBigInt = metadata.metatype === (BigInt as unknown);
    return metadata.schema === undefined && !isBigInt && super.toValidate(metadata);
  }

  /** `@Query('page') page: number` is the string that was sent, as in Nest without a global pipe. */
  protected override transformPrimitive(value: unknown): unknown {
    return value;
  }

  protected override async validate(
    object: object,
    options?: ValidatorOptions,
  ): Promise<ValidationError[]> {
    try {
      if (isCertainlyValid(object)) return [];
      return await super.validate(object, options);
    } catch (cause) {
      throw new FailedRule('A validation rule failed', { cause });
    }
  }
}

class InvalidInput extends Error {
  constructor(readonly found: readonly ValidationError[]) {
    super('Invalid input');
  }
}

/** A rule that throws is a fault of the server, unlike a `@Transform()` that cannot convert a value. */
class FailedRule extends Error {}

function faultsOf(error: unknown, { type, data }: ArgumentMetadata): string[] {
  if (error instanceof FailedRule) throw error.cause;
  if (error instanceof HttpException) throw error;
  if (!(error instanceof InvalidInput)) return [`The ${type} has a value of the wrong type`];
  const parent = typeof data === 'string' ? `${data}.` : '';
  return error.found.flatMap((each) => messagesOf(each, parent, type));
}

function messagesOf(error: ValidationError, parent: string, type: string): string[] {
  const { property, constraints = {}, children = [] } = error;
  const own = Object.entries(constraints).map(([rule, message]) =>
    rule === 'whitelistValidation' ? undeclared(parent + property, type) : parent + message,
  );
  return [...own, ...children.flatMap((each) => messagesOf(each, `${parent + property}.`, type))];
}

function undeclared(path: string, type: string): string {
  return `${quoteForMessage(path)} is not a known ${type === 'query' ? 'query parameter' : 'member'}`;
}

/** Nest's pipes remove these names from every object. */
const STRIPPED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const INHERITED = new Set([...STRIPPED, ...Object.getOwnPropertyNames(Object.prototype)]);
const scanner = new MetadataScanner();
const namesOfClasses = new WeakMap<Class, ReadonlySet<string>>();

/** Names that class-transformer skips, because an instance has a method of that name. */
function namesOf(dto: Class): ReadonlySet<string> {
  let names = namesOfClasses.get(dto);
  if (names === undefined) {
    names = new Set([...INHERITED, ...scanner.getAllMethodNames(dto.prototype as object)]);
    namesOfClasses.set(dto, names);
  }
  return names;
}

/** Removes members by name, at any depth. Reports them, and text that PostgreSQL cannot store. */
function takeNames(
  value: unknown,
  type: string,
  names: ReadonlySet<string>,
  nestedNames: ReadonlySet<string>,
  parent = '',
): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const path = parent + name;
    if (names.has(name)) {
      Reflect.deleteProperty(value, name);
      return [undeclared(path, type)];
    }
    if (name.isWellFormed() && (typeof member !== 'string' || member.isWellFormed())) {
      return takeNames(member, type, nestedNames, nestedNames, `${path}.`);
    }
    return [`${quoteForMessage(path)} must be well-formed Unicode`];
  });
}

/** Leaves the first value of each query parameter that is given twice, unless the DTO declares a list. */
function takeRepeated(query: Record<string, unknown>, dto: Class): string[] {
  if (!Object.values(query).some(Array.isArray)) return [];
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  const lists: unknown[] = [Array, Set];
  return Object.entries(query).flatMap(([name, values]) => {
    if (!Array.isArray(values)) return [];
    const own = rules.filter(({ propertyName }) => propertyName === name);
    const declared: unknown = Reflect.getMetadata('design:type', dto.prototype as object, name);
    const isList =
      lists.includes(declared) || own.some((rule) => rule.each || rule.name === 'isArray');
    if (own.length === 0 || isList) return [];
    query[name] = values[0];
    return [`${name} is given twice`];
  });
}
