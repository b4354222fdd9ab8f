import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { VERSION } from '../config/version.js';
import { hasOwnTransaction, hasTimestamp } from '../database/extension-migrations.js';
import { errors } from '../errors/errors.js';
import { isScope } from '../keys/scopes.js';
import { type Extension, nameOf } from './define.js';
import { secondCopies } from './second-copies.js';

/** An extension that the service cannot start with. */
export class ExtensionError extends Error {}

export interface CheckOptions {
  /** Names of extensions that start even if their version range does not match. */
  ignoreCompatibility?: readonly string[] | undefined;
  /** The configuration file that names the extensions. */
  file?: string | undefined;
}

/**
 * Checks the manifests of all extensions.
 * @returns warnings
 * @throws {ExtensionError} with every fault
 */
export function checkExtensions(
  extensions: readonly Extension[],
  { ignoreCompatibility = [], file }: CheckOptions = {},
): string[] {
  stopOn(extensions.flatMap(manifestFaults));
  // A pre-release counts as the version that it leads to.
  const incompatible = extensions.filter(
    ({ compatibility = '*' }) => !satisfies(VERSION, compatibility, { includePrerelease: true }),
  );
  const names = extensions.map(nameOf);
  stopOn([
    ...ignoreCompatibility
      .filter((name) => !names.includes(name))
      .map((name) => `--ignore-compatibility ${name}: no extension has this name`),
    ...names
      .filter((name, index) => names.indexOf(name) < index)
      .map((name) => `two extensions have the name ${name}`),
    ...incompatible
      .filter((extension) => !ignoreCompatibility.includes(nameOf(extension)))
      .map(incompatibility),
    ...repeatedCodes(extensions),
    ...secondCopies(extensions, file),
  ]);
  return incompatible.map((extension) => `${incompatibility(extension)}; starting anyway`);
}

function stopOn(faults: readonly string[]): void {
  if (faults.length > 0) throw new ExtensionError(faults.join('; '));
}

function incompatibility(extension: Extension): string {
  return `extension ${nameOf(extension)} requires pet-store-service ${extension.compatibility}, but this is ${VERSION}`;
}

function repeatedCodes(extensions: readonly Extension[]): string[] {
  const declaredBy = new Map(Object.keys(errors).map((code) => [code, 'the service']));
  return extensions.flatMap((extension) =>
    Object.values(extension.errors ?? {}).flatMap(({ code }) => {
      const first = declaredBy.get(code);
      const second = `extension ${nameOf(extension)}`;
      declaredBy.set(code, second);
      return first === undefined
        ? []
        : [`error code ${code} is declared by ${first} and by ${second}`];
    }),
  );
}

const NAME = /^[a-z][a-z0-9-]*$/;
const CODE = /^[\w.:-]{1,64}$/;
const PROPERTIES: readonly string[] = [
  'name',
  'compatibility',
  'module',
  'migrations',
  'scopes',
  'errors',
  'settings',
  'requestHeaders',
  'verifier',
  'from',
] satisfies (keyof Extension)[];

/** Faults that the type of a manifest does not prevent. */
function manifestFaults(extension: Extension, index: number): string[] {
  const label = `extension ${extension?.name || `number ${index + 1} of the list`}`;
  if (typeof extension !== 'object' || !extension?.module) {
    return [`${label}: expected an object with a module; call a function of options`];
  }
  const { name = 'unnamed', compatibility = '*', migrations = [], scopes = {} } = extension;
  return [
    ...Object.keys(extension)
      .filter((property) => !PROPERTIES.includes(property))
      .map((property) => `unknown property "${property}"`),
    ...(NAME.test(name) ? [] : [`the name must be like store-orders, not ${name}`]),
    ...(validRange(compatibility) === null
      ? [`compatibility must be a semver range like ^1.0.0, not ${compatibility}`]
      : []),
    ...migrations
      .filter((migration) => !hasTimestamp(migration) || hasOwnTransaction(migration))
      .map(
        (migration) =>
          `the name of the migration ${migration.name} must end in a timestamp of 13 digits, and it cannot have \`transaction\`, because all migrations run in one`,
      ),
    ...Object.keys(scopes)
      .filter((scope) => !isScope(scope))
      .map((scope) => `the scope ${scope} must be like orders:read`),
    ...Object.values(extension.errors ?? {})
      .filter(({ code, status }) => !CODE.test(code) || !(status >= 400 && status <= 599))
      .map(
        ({ code, status }) =>
          `the error ${code} must have a code like order_closed and a status between 400 and 599, not ${status}`,
      ),
  ].map((fault) => `${label}: ${fault}`);
}
