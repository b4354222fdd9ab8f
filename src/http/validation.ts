import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import {
  getMetadataStorage,
  registerDecorator,
  ValidateIf,
  validateSync,
  type ValidationArguments,
  type ValidationError,
} from 'class-validator';
import { ApiError } from './api-error.js';

/** Enough to mend a request by; a body of a thousand faults must not make an answer of a thousand. */
const MAX_FAULTS_NAMED = 10;
const MAX_NAME_SHOWN = 40;

/**
 * An instance of `type` made of `members`, each declared and within its constraints.
 * @param kind what a member is called in a message
 * @throws {ApiError} 400 `invalid_request` that names each fault
 */
export function validated<T extends object>(
  type: Type<T>,
  members: Readonly<Record<string, unknown>>,
  kind: 'member' | 'query parameter',
): T {
  const declared = declaredNames(type);
  const faults: string[] = [];
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    if (!declared.has(name)) faults.push(`${shown(name)} is not a known ${kind}`);
    else if (kind === 'query parameter' && Array.isArray(value))
      faults.push(`${name} is given twice`);
    else known[name] = value;
  }
  const instance = plainToInstance(type, known);
  const errors = validateSync(instance, { forbidUnknownValues: false });
  const repeated = new Set(Object.keys(members).filter((name) => !(name in known)));
  faults.push(...errors.filter(({ property }) => !repeated.has(property)).flatMap(messagesOf));
  if (faults.length > 0) throw invalidRequest(faults);
  return instance;
}

export function invalidRequest(faults: readonly string[]): ApiError {
  const named = faults.slice(0, MAX_FAULTS_NAMED);
  if (faults.length > named.length) named.push(`and ${faults.length - named.length} more`);
  return new ApiError('invalid_request', named.join('; '));
}

/** A name of the caller's own, short enough to be repeated to it. */
export function shown(name: string): string {
  const text = name.length > MAX_NAME_SHOWN ? `${name.slice(0, MAX_NAME_SHOWN)}...` : name;
  return JSON.stringify(text.toWellFormed());
}

/** A constraint of our own: `expected` completes "NAME must be ...". */
export function constrain(name: string, expected: string, holds: (value: unknown) => boolean) {
  return (target: object, propertyName: string | symbol): void => {
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: propertyName as string,
      validator: {
        validate: holds,
        defaultMessage: ({ property, value }: ValidationArguments) =>
          value === undefined ? `${property} is required` : `${property} must be ${expected}`,
      },
    });
  };
}

/** May be left out. Unlike `@IsOptional()`, a `null` is not left out. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_object, value) => value !== undefined);
}

const namesByType = new Map<Type, ReadonlySet<string>>();

function declaredNames(type: Type): ReadonlySet<string> {
  let names = namesByType.get(type);
  if (names === undefined) {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
    names = new Set(metadata.map(({ propertyName }) => propertyName));
    namesByType.set(type, names);
  }
  return names;
}

function messagesOf(error: ValidationError): string[] {
  const own = Object.values(error.constraints ?? {});
  return [...own, ...(error.children ?? []).flatMap(messagesOf)];
}
