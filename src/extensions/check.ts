import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DynamicModule } from '@nestjs/common';
import { IsArray, IsObject, IsOptional, IsString, Matches } from 'class-validator';
import satisfies from 'semver/functions/satisfies.js';
import { ConfigError } from '../core/config/config.js';
import { mustBe, shapeFaults } from '../core/config/settings.js';
import { PACKAGE_ROOT, VERSION } from '../core/config/version.js';
import { errors } from '../core/errors/errors.js';
import { type Extension, type ExtensionCommand, nameOf } from './define.js';

/** Classes, metadata and injection tokens of a second copy do not match those of the first. */
const SHARED = [
  'pet-store-service',
  '@nestjs/common',
  '@nestjs/core',
  'typeorm',
  'class-validator',
  'class-transformer',
];

/** The commands of `petstore`. */
const COMMANDS =
  'serve keys admin migrate seed backup restore doctor openapi usage copy new help'.split(' ');

/** Extensions that the service cannot start with. */
export class ExtensionError extends ConfigError {}

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
  assertManifests(extensions);
  // A pre-release counts as the version that it leads to.
  const incompatible = extensions.filter(
    ({ compatibility = '*' }) => !satisfies(VERSION, compatibility, { includePrerelease: true }),
  );
  stopOn([
    ...incompatible
      .filter((extension) => !ignoreCompatibility.includes(nameOf(extension)))
      .map(incompatibility),
    ...repetitions(codesOf(extensions)),
    ...extensions.flatMap(defaultScopeFaults),
    ...secondCopies(extensions, file),
  ]);
  return incompatible.map((extension) => `${incompatibility(extension)}; starting anyway`);
}

/** @throws {ExtensionError} with a line for each fault, if there is one */
export function stopOn(faults: readonly string[]): void {
  if (faults.length > 0) throw new ExtensionError(faults);
}

/**
 * Untyped configurations may contain anything.
 * @throws {ExtensionError} with every fault of the manifests
 */
export function assertManifests(extensions: readonly Extension[]): void {
  stopOn(extensions.flatMap(manifestFaults));
  stopOn([
    ...repetitions(extensions.map((each, index) => [nameOf(each), `number ${index + 1}`])).map(
      (fault) => `extension ${fault}`,
    ),
    ...repetitions(commandsOf(extensions)),
  ]);
}

/** The commands, each with its owner. */
function commandsOf(extensions: readonly Extension[]): [command: string, owner: string][] {
  return [
    ...COMMANDS.map((name): [string, string] => [`command ${name}`, 'the service']),
    ...extensions.flatMap((each) =>
      (each.commands ?? []).map(({ name }): [string, string] => [
        `command ${name}`,
        `extension ${nameOf(each)}`,
      ]),
    ),
  ];
}

function manifestFaults(extension: Partial<Extension> | null, index: number): string[] {
  const isObject = typeof extension === 'object' && extension !== null;
  const name = (isObject && extension.name) || `number ${index + 1} of the list`;
  if (!isObject) {
    return [`extension ${name} is not a manifest; if it is a function of options, call it`];
  }
  const commands = Array.isArray(extension.commands) ? (extension.commands as unknown[]) : [];
  return [
    ...shapeFaults(Manifest, extension),
    ...commands.flatMap((command, at) =>
      shapeFaults(CommandShape, command).map((fault) => `commands[${at}]: ${fault}`),
    ),
  ].map((fault) => `extension ${name}: ${fault}`);
}

const isFunction = (value: unknown) => typeof value === 'function';
const isModule = (value: unknown) =>
  isFunction(value) || isFunction((value as Partial<DynamicModule> | undefined)?.module);

/** The rules of a manifest. */
class Manifest implements Record<keyof Extension, unknown> {
  @IsOptional() @IsString() name: unknown;
  @IsOptional() @IsString() compatibility: unknown;
  @mustBe('a class or a dynamic module of Nest', isModule) module: unknown;
  @IsOptional() @IsArray() migrations: unknown;
  @IsOptional() @IsObject() scopes: unknown;
  @IsOptional() @IsString({ each: true }) defaultScopes: unknown;
  @IsOptional() @IsObject() tags: unknown;
  @IsOptional() @IsObject() errors: unknown;
  @IsOptional() @mustBe('a class', isFunction) settings: unknown;
  @IsOptional() @IsString({ each: true }) requestHeaders: unknown;
  @IsOptional() @IsObject() verifier: unknown;
  @IsOptional() @mustBe('a function', isFunction) seed: unknown;
  @IsOptional() @IsArray() commands: unknown;
  @IsOptional() @IsString() from: unknown;
}

/** The rules of a command. */
class CommandShape implements Record<keyof ExtensionCommand, unknown> {
  @Matches(/^[a-z][a-z0-9-]*$/, { message: 'name must be lower case, such as close-orders' })
  name: unknown;
  @IsString() description: unknown;
  @mustBe('a function', isFunction) run: unknown;
}

function defaultScopeFaults(extension: Extension): string[] {
  const { scopes = {}, defaultScopes = [] } = extension;
  return defaultScopes
    .filter((scope) => !Object.hasOwn(scopes, scope))
    .map((scope) => `extension ${nameOf(extension)}: defaultScopes has ${scope}, not in scopes`);
}

function incompatibility(extension: Extension): string {
  const required = `pet-store-service ${extension.compatibility}`;
  return `extension ${nameOf(extension)} requires ${required}, but this is ${VERSION}`;
}

/** The error codes, each with its owner. */
function codesOf(extensions: readonly Extension[]): [code: string, owner: string][] {
  const owners = [
    { owner: 'the service', codes: errors },
    ...extensions.map((each) => ({ owner: `extension ${nameOf(each)}`, codes: each.errors ?? {} })),
  ];
  return owners.flatMap(({ owner, codes }) =>
    Object.values(codes).map(({ code }): [string, string] => [`error code ${code}`, owner]),
  );
}

/**
 * Returns a message for each name that is declared twice. @param declared each name with its owner
 */
export function repetitions(declared: readonly (readonly [name: string, by: string])[]): string[] {
  const firsts = new Map<string, string>();
  return declared.flatMap(([name, by]) => {
    const first = firsts.get(name);
    firsts.set(name, by);
    return first === undefined ? [] : [`${name} is declared twice: by ${first} and by ${by}`];
  });
}

/**
 * Finds packages that an extension, or the configuration file, would import from another folder
 * than this service. One line per folder: where one package has a second copy, others have too.
 */
function secondCopies(extensions: readonly Extension[], file?: string): string[] {
  const own = fileURLToPath(import.meta.url);
  const root = realpathSync(PACKAGE_ROOT); // A clone is in no node_modules.
  const importers = [
    ...extensions.map((each) => ({
      label: `extension ${nameOf(each)}`,
      path: each.from && fileURLToPath(each.from),
    })),
    { label: 'the configuration', path: file },
  ];
  const found = new Map<string, string>();
  for (const { label, path } of importers) {
    if (!path) continue;
    for (const name of SHARED) {
      const ours = folderOf(name, own) ?? root;
      const theirs = folderOf(name, path) ?? ours;
      if (theirs === ours) continue;
      const fix = name === SHARED[0] ? 'start it with npx petstore there' : 'install it once';
      const copy = `${label} uses a second copy of ${name}: ${theirs}`;
      const line = `${copy}, while the service uses ${ours}; ${fix}`;
      if (!found.has(theirs)) found.set(theirs, line);
      break;
    }
  }
  return [...found.values()];
}

/**
 * Searches the folders instead of resolving the package, because `typeorm` does not export its
 * `package.json`.
 */
function folderOf(name: string, importer: string): string | undefined {
  const folder = (createRequire(realpathSync(importer)).resolve.paths(name) ?? [])
    .map((each) => join(each, name))
    .find((each) => existsSync(each));
  return folder && realpathSync(folder);
}
