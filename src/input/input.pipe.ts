import { type ArgumentMetadata, HttpException, Injectable, ValidationPipe } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import { getMetadataStorage, type ValidationError, type ValidatorOptions } from 'class-validator';
import { invalidRequest, notJson, quoteForMessage } from './invalid-request.js';

/**
 * Nest's `ValidationPipe`, which rejects undeclared members and names every fault in one message. In addition to the
 * stock pipe, it rejects member names that class-transformer drops silently, and repeated query parameters.
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

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const faults = this.takeOut(value, metadata);
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

  /** Finds, and removes from `value`, what the stock pipe would accept or ignore although nothing declares it. */
  private takeOut(value: unknown, metadata: ArgumentMetadata): string[] {
    const { type, data, metatype } = metadata;
    const hasRules = metatype !== undefined && this.toValidate(metadata);
    if (type === 'body') {
      if (hasRules && value !== undefined && !isObject(value)) {
        throw invalidRequest([
          typeof data === 'string' ? `${data} must be an object` : 'The body must be a JSON object',
        ]);
      }
      const names = hasRules ? unassignableNames(metatype) : STRIPPED;
      return takeOutNames(value, type, names, hasRules ? INHERITED : STRIPPED);
    }
    if (type !== 'query' || data !== undefined || !hasRules) return [];
    return [
      ...takeOutNames(value, type, unassignableNames(metatype), INHERITED),
      ...takeOutRepeated(value as Record<string, unknown>, metatype),
    ];
  }

  /** A value with a schema is validated by Nest's `StandardSchemaValidationPipe`. */
  protected override toValidate(metadata: ArgumentMetadata): boolean {
    const { metatype, schema } = metadata;
    return schema === undefined && metatype !== (BigInt as unknown) && super.toValidate(metadata);
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
  if (error instanceof InvalidInput) {
    const parent = typeof data === 'string' ? `${data}.` : '';
    return error.found.flatMap((each) => messagesOf(each, parent, type));
  }
  if (error instanceof FailedRule) throw error.cause;
  if (error instanceof HttpException) throw error;
  return [`The ${type} has a value of the wrong type`];
}

function messagesOf(
  error: ValidationError,
  parent: string,
  type: ArgumentMetadata['type'],
): string[] {
  const path = `${parent}${error.property}`;
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) =>
    rule === 'whitelistValidation' ? unknownMember(path, type) : `${parent}${message}`,
  );
  return [
    ...own,
    ...(error.children ?? []).flatMap((child) => messagesOf(child, `${path}.`, type)),
  ];
}

function unknownMember(path: string, type: ArgumentMetadata['type']): string {
  const kind = type === 'query' ? 'query parameter' : 'member';
  return `${quoteForMessage(path)} is not a known ${kind}`;
}

/** Nest's pipes remove these names from every object. */
const STRIPPED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const INHERITED = new Set([...STRIPPED, ...Object.getOwnPropertyNames(Object.prototype)]);
const scanner = new MetadataScanner();
const unassignable = new WeakMap<object, ReadonlySet<string>>();

/** Names that class-transformer skips, because an instance has a method of that name. */
function unassignableNames(type: NonNullable<ArgumentMetadata['metatype']>): ReadonlySet<string> {
  let names = unassignable.get(type);
  if (names === undefined) {
    names = new Set([...INHERITED, ...scanner.getAllMethodNames(type.prototype as object)]);
    unassignable.set(type, names);
  }
  return names;
}

/** Removes members by name, at any depth. Reports them, and text that PostgreSQL cannot store. */
function takeOutNames(
  value: unknown,
  type: ArgumentMetadata['type'],
  names: ReadonlySet<string>,
  nestedNames: ReadonlySet<string>,
  parent = '',
): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const path = `${parent}${name}`;
    if (names.has(name)) {
      Reflect.deleteProperty(value, name);
      return [unknownMember(path, type)];
    }
    const isWellFormed =
      name.isWellFormed() && (typeof member !== 'string' || member.isWellFormed());
    if (!isWellFormed) return [`${quoteForMessage(path)} must be well-formed Unicode`];
    return takeOutNames(member, type, nestedNames, nestedNames, `${path}.`);
  });
}

/** Leaves the first value of each query parameter that is given twice, unless the DTO declares a list. */
function takeOutRepeated(
  query: Record<string, unknown>,
  type: NonNullable<ArgumentMetadata['metatype']>,
): string[] {
  return Object.entries(query).flatMap(([name, values]) => {
    if (!Array.isArray(values) || !isDeclaredSingle(type, name)) return [];
    query[name] = values[0];
    return [`${name} is given twice`];
  });
}

function isDeclaredSingle(type: NonNullable<ArgumentMetadata['metatype']>, name: string): boolean {
  const rules = getMetadataStorage()
    .getTargetValidationMetadatas(type, '', false, false)
    .filter(({ propertyName }) => propertyName === name);
  const declared: unknown = Reflect.getMetadata('design:type', type.prototype as object, name);
  const isList = declared === Array || declared === Set;
  return rules.length > 0 && !isList && !rules.some((rule) => rule.each || rule.name === 'isArray');
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
