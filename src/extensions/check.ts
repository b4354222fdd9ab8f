import satisfies from 'semver/functions/satisfies.js';
import { VERSION } from '../config/version.js';
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
  stopOn([
    ...incompatible
      .filter((extension) => !ignoreCompatibility.includes(nameOf(extension)))
      .map(incompatibility),
    ...repetitions(codesOf(extensions)),
    ...secondCopies(extensions, file),
  ]);
  return incompatible.map((extension) => `${incompatibility(extension)}; starting anyway`);
}

function stopOn(faults: readonly string[]): void {
  if (faults.length > 0) throw new ExtensionError(faults.join('; '));
}

/** Faults that the type of a manifest does not prevent. */
function manifestFaults(extension: Extension, index: number): string[] {
  const label = `extension ${extension?.name || `number ${index + 1} of the list`}`;
  if (typeof extension !== 'object' || !extension?.module) {
    return [`${label}: expected an object with a module; call a function of options`];
  }
  const { name = 'unnamed', scopes = {} } = extension;
  const isNamed = /^[a-z][a-z0-9-]*$/.test(name);
  return [
    ...(isNamed ? [] : [`${label}: the name must be like store-orders`]),
    ...Object.keys(scopes)
      .filter((scope) => !isScope(scope))
      .map((scope) => `${label}: the scope ${scope} must be like orders:read`),
  ];
}

function incompatibility(extension: Extension): string {
  return `extension ${nameOf(extension)} requires pet-store-service ${extension.compatibility}, but this is ${VERSION}`;
}

/** The error codes, each with what declares it. */
function codesOf(extensions: readonly Extension[]): [code: string, owner: string][] {
  const owners = [
    { owner: 'the service', codes: errors },
    ...extensions.map((each) => ({ owner: `extension ${nameOf(each)}`, codes: each.errors ?? {} })),
  ];
  return owners.flatMap(({ owner, codes }) =>
    Object.values(codes).map(({ code }): [string, string] => [`error code ${code}`, owner]),
  );
}

/** Messages on everything that is declared twice. @param declared names, each with what declares it */
export function repetitions(declared: readonly (readonly [name: string, by: string])[]): string[] {
  const firsts = new Map<string, string>();
  return declared.flatMap(([name, by]) => {
    const first = firsts.get(name);
    firsts.set(name, by);
    return first === undefined ? [] : [`${name} is declared twice: by ${first} and by ${by}`];
  });
}
