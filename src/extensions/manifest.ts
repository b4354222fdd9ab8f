import validRange from 'semver/ranges/valid.js';
import {
  hasOwnTransaction,
  hasTimestamp,
  type MigrationClass,
} from '../database/extension-migrations.js';
import type { ErrorDefinition } from '../errors/api-error.js';
import { isScope } from '../keys/scopes.js';
import type { Extension } from './define.js';

const NAME = /^[a-z][a-z0-9-]*$/;
const CODE = /^[\w.:-]{1,64}$/;
/** Name of a header field (RFC 9110 section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

const isClass = (value: unknown): boolean => typeof value === 'function';
const isModule = (module: Extension['module']): boolean =>
  isClass('module' in module ? module.module : module);
const isMigration = (migration: MigrationClass): boolean =>
  isClass(migration) && hasTimestamp(migration) && !hasOwnTransaction(migration);
const isError = ({ code, status }: ErrorDefinition): boolean =>
  CODE.test(code) && Number.isInteger(status) && status >= 400 && status <= 599;

/** For each member: the expected value, and a function that returns the invalid items. */
const RULES: {
  [Name in keyof Extension]-?: [
    expected: string,
    culprits: (value: NonNullable<Extension[Name]>) => readonly unknown[],
  ];
} = {
  name: ['a name like store-orders', (name) => [name].filter((each) => !NAME.test(each))],
  compatibility: [
    'a semver range like ^1.0.0',
    (range) => [range].filter((each) => validRange(each) === null),
  ],
  module: ['a Nest module', (module) => [module].filter((each) => !isModule(each))],
  migrations: [
    'a class whose name ends in a timestamp of 13 digits, without `transaction`: all migrations run in one',
    (migrations) => migrations.filter((each) => !isMigration(each)),
  ],
  scopes: ['a scope like orders:read', (all) => Object.keys(all).filter((each) => !isScope(each))],
  errors: [
    'an error with a code like order_closed and a status between 400 and 599',
    (all) => Object.values(all).flatMap((each) => (isError(each) ? [] : [{ ...each }])),
  ],
  settings: ['a class', (settings) => [settings].filter((each) => !isClass(each))],
  requestHeaders: ['the name of a header', (names) => names.filter((each) => !TOKEN.test(each))],
  verifier: [
    'a class or an object with a method verify',
    (verifier) => [verifier].filter((each) => !isClass(each) && !('verify' in each)),
  ],
  from: ['import.meta.url', (from) => [from].filter((each) => typeof each !== 'string')],
};

/** The faults of one manifest. */
export function manifestFaults(extension: unknown): string[] {
  if (typeof extension === 'function') return ['it is a function: call it with its options'];
  if (typeof extension !== 'object' || extension === null) return ['it is not an object'];
  if (!(extension as Partial<Extension>).module) return ['module is missing'];
  return Object.entries(extension).flatMap(([name, value]) => {
    if (!Object.hasOwn(RULES, name)) return [`unknown property "${name}"`];
    const [expected, culprits] = RULES[name as keyof Extension];
    const found = value === undefined ? [] : culprits(value as never);
    return found.map((culprit) => `${name}: ${described(culprit)} must be ${expected}`);
  });
}

function described(culprit: unknown): string {
  if (typeof culprit === 'function') return culprit.name;
  return typeof culprit === 'string' ? culprit : (JSON.stringify(culprit) ?? String(culprit));
}
