import satisfies from 'semver/functions/satisfies.js';
import { VERSION } from '../config/version.js';
import { errors } from '../errors/errors.js';
import { type Extension, nameOf } from './define.js';
import { manifestFaults } from './manifest.js';
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
  stopOn(
    extensions.flatMap((extension, index) =>
      manifestFaults(extension).map((fault) => `extension ${labelOf(extension, index)}: ${fault}`),
    ),
  );
  const incompatible = extensions.filter((extension) => !isCompatible(extension));
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

function labelOf(extension: Extension | null, index: number): string {
  const isNamed = typeof extension === 'object' && typeof extension?.name === 'string';
  return isNamed ? extension.name : `number ${index + 1} of the list`;
}

/** A pre-release counts as the version that it leads to. */
function isCompatible({ compatibility }: Extension): boolean {
  return (
    compatibility === undefined || satisfies(VERSION, compatibility, { includePrerelease: true })
  );
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
