import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { VERSION } from '../config/version.js';
import { hasOwnTransaction, hasTimestamp } from '../database/extension-migrations.js';
import { errors } from '../errors/errors.js';
import { isScope } from '../keys/scopes.js';
import { type Extension, nameOf } from './define.js';
import { secondCopies } from './second-copies.js';

/** An extension, or an operation of it, is not fit to be served. */
export class ExtensionError extends Error {}

export interface CheckOptions {
  /** Names of extensions that are started whatever versions they work with. */
  ignoreCompatibility?: readonly string[] | undefined;
  /** The configuration file that names them. */
  file?: string | undefined;
}

const NAME = /^[a-z][a-z0-9-]*$/;
/** What callers compare, and logs and use are counted by. */
const CODE = /^[\w.:-]{1,64}$/;
/** The name of a header field (RFC 9110 section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const MEMBERS: Record<keyof Extension, true> = {
  name: true,
  compatibility: true,
  module: true,
  migrations: true,
  scopes: true,
  errors: true,
  settings: true,
  requestHeaders: true,
  verifier: true,
  from: true,
};

/**
 * Judges extensions by what they say of themselves.
 * @returns what to warn of
 * @throws {ExtensionError} naming each fault
 */
export function checkExtensions(
  extensions: readonly Extension[],
  { ignoreCompatibility = [], file }: CheckOptions = {},
): string[] {
  const misshapen = extensions.flatMap(faultsOfShape);
  if (misshapen.length > 0) throw new ExtensionError(misshapen.join('; '));
  const incompatible = extensions.filter((extension) => !isCompatible(extension));
  const isIgnored = (extension: Extension): boolean =>
    ignoreCompatibility.includes(nameOf(extension));
  const faults = [
    ...unknownNames(extensions, ignoreCompatibility),
    ...twice(extensions.map(nameOf)).map((name) => `There are two extensions named ${name}`),
    ...incompatible.filter((extension) => !isIgnored(extension)).map(incompatibility),
    ...extensions.flatMap(faultsOfMembers),
    ...errorsDeclaredTwice(extensions),
    ...secondCopies(extensions, file),
  ];
  if (faults.length > 0) throw new ExtensionError(faults.join('; '));
  return incompatible.map((extension) => `${incompatibility(extension)}: started all the same`);
}

function faultsOfShape(extension: Extension, index: number): string[] {
  const which = `The extension at place ${index + 1} of the list`;
  if (typeof extension === 'function') return [`${which} is a function: call it with its options`];
  if (typeof extension !== 'object' || extension === null) return [`${which} is no extension`];
  const { name, module } = extension;
  if (name !== undefined && !NAME.test(name)) {
    return [`The name of an extension must be like store-orders, and not ${String(name)}`];
  }
  const isModule = typeof module === 'function' || typeof module?.module === 'function';
  if (!isModule) return [`${name === undefined ? which : the(extension)} has no module`];
  return Object.keys(extension)
    .filter((member) => !(member in MEMBERS))
    .map((member) => `${the(extension)} says ${member}, which nothing reads`);
}

function faultsOfMembers(extension: Extension): string[] {
  const { compatibility, migrations = [], scopes = {}, errors: own = {}, verifier } = extension;
  const faults: string[] = [];
  if (compatibility !== undefined && validRange(compatibility) === null) {
    faults.push(`${the(extension)} has no range of versions in compatibility: ${compatibility}`);
  }
  for (const migration of migrations) {
    if (typeof migration !== 'function') {
      faults.push(`${the(extension)}: what is no class is among its migrations`);
      continue;
    }
    const { name } = migration;
    if (!hasTimestamp(migration)) {
      faults.push(`${the(extension)}: the name of the migration ${name} ends in no timestamp`);
    }
    if (hasOwnTransaction(migration)) {
      faults.push(
        `${the(extension)}: the migration ${name} says transaction, but all run in one: leave it out`,
      );
    }
  }
  for (const scope of Object.keys(scopes)) {
    if (!isScope(scope))
      faults.push(`${the(extension)}: a scope must be like orders:read: ${scope}`);
  }
  for (const name of extension.requestHeaders ?? []) {
    if (!TOKEN.test(name)) {
      faults.push(`${the(extension)}: ${JSON.stringify(name)} names no header in requestHeaders`);
    }
  }
  for (const { code, status } of Object.values(own)) {
    if (!CODE.test(code)) {
      faults.push(`${the(extension)}: an error code must be like order_closed: ${code}`);
    }
    if (!isErrorStatus(status)) {
      faults.push(`${the(extension)}: the status of ${code} must be from 400 to 599: ${status}`);
    }
  }
  if (verifier !== undefined && typeof verifier !== 'function' && !('verify' in verifier)) {
    faults.push(`${the(extension)}: its verifier has no method verify`);
  }
  return faults;
}

/** RFC 9110 sections 15.5 and 15.6. */
function isErrorStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599;
}

/** Pre-releases count as the versions that they lead to. */
function isCompatible({ compatibility }: Extension): boolean {
  if (compatibility === undefined || validRange(compatibility) === null) return true;
  return satisfies(VERSION, compatibility, { includePrerelease: true });
}

function incompatibility(extension: Extension): string {
  return `${the(extension)} works with ${extension.compatibility} of pet-store-service, and this is ${VERSION}`;
}

function unknownNames(extensions: readonly Extension[], names: readonly string[]): string[] {
  const known = new Set(extensions.map(nameOf));
  return names
    .filter((name) => !known.has(name))
    .map((name) => `--ignore-compatibility ${name}: there is no extension of that name`);
}

function errorsDeclaredTwice(extensions: readonly Extension[]): string[] {
  const declaredBy = new Map(Object.keys(errors).map((code) => [code, 'the service itself']));
  return extensions.flatMap((extension) =>
    Object.values(extension.errors ?? {}).flatMap(({ code }) => {
      const first = declaredBy.get(code);
      declaredBy.set(code, `the extension ${nameOf(extension)}`);
      if (first === undefined) return [];
      return [
        `The error code ${code} is declared twice: by ${first} and by the extension ${nameOf(extension)}`,
      ];
    }),
  );
}

function twice(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function the(extension: Extension): string {
  return `The extension ${nameOf(extension)}`;
}
