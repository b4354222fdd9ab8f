import { IsOptional, IsString, ValidateBy, validateSync } from 'class-validator';
import validRange from 'semver/ranges/valid.js';
import {
  hasOwnTransaction,
  hasTimestamp,
  type MigrationClass,
} from '../database/extension-migrations.js';
import type { ErrorDefinition } from '../errors/api-error.js';
import { isScope } from '../keys/scopes.js';
import type { Extension } from './define.js';

/** Rule for a member, or for each item that `itemsOf` finds in it. */
function Rule(
  expected: string,
  holds: (item: never) => boolean,
  itemsOf: (value: object) => readonly unknown[] = (value) => [value],
): PropertyDecorator {
  const culprit = (value: unknown): unknown =>
    itemsOf(value as object).find((item) => !holds(item as never));
  return ValidateBy({
    name: expected,
    validator: {
      validate: (value: unknown) => itemsOf(value as object).every((item) => holds(item as never)),
      defaultMessage: (validation) =>
        `$property: ${described(culprit(validation?.value))} must be ${expected}`,
    },
  });
}

function described(culprit: unknown): string {
  if (typeof culprit === 'function') return culprit.name;
  return typeof culprit === 'string' ? culprit : (JSON.stringify(culprit) ?? 'undefined');
}

const NAME = /^[a-z][a-z0-9-]*$/;
const CODE = /^[\w.:-]{1,64}$/;
/** Name of a header field (RFC 9110 section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

const isClass = (value: unknown): boolean => typeof value === 'function';

/** The rules of an extension's manifest. */
class Manifest implements Record<keyof Extension, unknown> {
  @IsOptional()
  @Rule('a name like store-orders', (name: string) => NAME.test(name))
  name: unknown;

  @IsOptional()
  @Rule('a semver range like ^1.0.0', (range: string) => validRange(range) !== null)
  compatibility: unknown;

  @Rule('a Nest module', (module: Extension['module'] | undefined) =>
    isClass(module && 'module' in module ? module.module : module),
  )
  module: unknown;

  @IsOptional()
  @Rule('a class', isClass, Object.values)
  @Rule(
    'a migration whose name ends in a timestamp of 13 digits',
    (migration: MigrationClass) => !isClass(migration) || hasTimestamp(migration),
    Object.values,
  )
  @Rule(
    'a migration without `transaction`: all migrations run in one',
    (migration: MigrationClass) => !isClass(migration) || !hasOwnTransaction(migration),
    Object.values,
  )
  migrations: unknown;

  @IsOptional()
  @Rule('a scope like orders:read', isScope, Object.keys)
  scopes: unknown;

  @IsOptional()
  @Rule(
    'an error with a code like order_closed and a status between 400 and 599',
    ({ code, status }: ErrorDefinition) =>
      CODE.test(code) && Number.isInteger(status) && status >= 400 && status <= 599,
    (errors) =>
      Object.values(errors).map(({ code, status }: ErrorDefinition) => ({ code, status })),
  )
  errors: unknown;

  @IsOptional()
  @Rule('a class', isClass)
  settings: unknown;

  @IsOptional()
  @Rule('the name of a header', (name: string) => TOKEN.test(name), Object.values)
  requestHeaders: unknown;

  @IsOptional()
  @Rule(
    'a class or an object with a method verify',
    (verifier: object) => isClass(verifier) || 'verify' in verifier,
  )
  verifier: unknown;

  @IsOptional()
  @IsString()
  from: unknown;
}

/** The faults of one manifest. */
export function manifestFaults(extension: unknown): string[] {
  if (typeof extension === 'function') return ['it is a function: call it with its options'];
  if (typeof extension !== 'object' || extension === null) return ['it is not an object'];
  const found = validateSync(Object.assign(new Manifest(), extension), {
    whitelist: true,
    forbidNonWhitelisted: true,
  });
  return found.flatMap(({ property, constraints = {} }) =>
    'whitelistValidation' in constraints
      ? [`unknown property "${property}"`]
      : Object.values(constraints),
  );
}
