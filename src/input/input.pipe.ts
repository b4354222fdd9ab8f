import {
  type ArgumentMetadata,
  Injectable,
  StandardSchemaValidationPipe,
  ValidationPipe,
} from '@nestjs/common';
import { getMetadataStorage, type ValidationError, type ValidatorOptions } from 'class-validator';
import { transformIfValid } from './fast-validation.js';
import { invalidRequest, notJson, quoteForMessage } from './invalid-request.js';

type Class = NonNullable<ArgumentMetadata['metatype']>;

/**
 * Nest's `ValidationPipe`, which rejects undeclared members and names every fault in one message. In addition to the
 * stock pipe, it rejects names that class-transformer drops silently, and repeated query parameters.
 */
@Injectable()
export class InputPipe extends ValidationPipe {
  /** For `@Body({ schema })` and the like. */
  private readonly schemas = new StandardSchemaValidationPipe();

  constructor() {
    super({
      transform: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      exceptionFactory: (found) => new InvalidInput(found),
    });
  }

  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.schema !== undefined) return this.schemas.transform(value, metadata);
    const dto = this.toValidate(metadata) ? metadata.metatype : undefined;
    // `@Query('page') page: number` is the string that was sent, as in Nest without a global pipe.
    if (metadata.type !== 'body' && dto === undefined) return Promise.resolve(value);
    return this.validateInput(value, metadata, dto);
  }

  private async validateInput(
    value: unknown,
    metadata: ArgumentMetadata,
    dto: Class | undefined,
  ): Promise<unknown> {
    const { type, data } = metadata;
    if (dto && type === 'body') assertObject(value, data);
    const faults = takeInherited(value, type, (dto ?? Object).prototype as object);
    if (dto && type === 'query') faults.push(...takeRepeated(value as object, dto));
    const valid = dto && faults.length === 0 ? transformIfValid(dto, value) : undefined;
    if (valid !== undefined) return valid;
    let cause: unknown;
    try {
      const result: unknown = await super.transform(value, metadata);
      if (faults.length === 0) return result;
    } catch (error) {
      if (error instanceof FailedRule) throw error.cause;
      // No body was sent, and the operation cannot do without one.
      if (type === 'body' && value === undefined && !data) throw notJson();
      faults.push(...faultsOf(error, metadata));
      cause = error;
    }
    throw invalidRequest(faults, cause);
  }

  /** Types of TypeScript's `bigint` have no rules either. */
  protected override toValidate(metadata: ArgumentMetadata): boolean {
    return metadata.metatype !== (BigInt as unknown) && super.toValidate(metadata);
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
  if (!(error instanceof InvalidInput)) return [`The ${type} has a value of the wrong type`];
  const parent = data === undefined ? '' : `${data}.`;
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

function assertObject(value: unknown, name = 'The body'): void {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject && value !== undefined) throw invalidRequest([`${name} must be a JSON object`]);
}

/**
 * Removes and reports members that are named like a property of every object, at any depth, or like a method of the
 * DTO. class-transformer skips them.
 */
function takeInherited(value: unknown, type: string, prototype: object, parent = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (!(name in prototype) && name !== 'prototype') {
      return takeInherited(member, type, Object.prototype, `${parent}${name}.`);
    }
    Reflect.deleteProperty(value, name);
    return [undeclared(parent + name, type)];
  });
}

/** Leaves the first value of each query parameter that is given twice, unless the DTO declares a list. */
function takeRepeated(query: object, dto: Class): string[] {
  const repeated = Object.entries(query).filter(([, values]) => Array.isArray(values));
  if (repeated.length === 0) return [];
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  return repeated.flatMap(([name, values]: [string, unknown[]]) => {
    const isList =
      Reflect.getMetadata('design:type', dto.prototype as object, name) === Array ||
      rules.some((rule) => rule.propertyName === name && (rule.each || rule.name === 'isArray'));
    if (isList) return [];
    Reflect.set(query, name, values[0]);
    return [`${name} is given twice`];
  });
}
