import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Type } from '@nestjs/common';
import { IsArray, IsObject, IsString } from 'class-validator';
import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { ConfigError } from '../core/config/config.js';
import { check, mustBe, rulesOf, shapeFaults, shown } from '../core/config/settings.js';
import { PACKAGE_ROOT, VERSION } from '../core/config/version.js';
import { type MigrationClass, migrationName } from '../core/database/extension-migrations.js';
import type { ErrorDefinition } from '../core/errors/api-error.js';
import { errors } from '../core/errors/errors.js';
import { MayBeAbsent } from '../core/input/constrain.js';
import { isScope } from '../core/keys/scopes.js';
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

export interface CheckOptions {
  /** Names of extensions that start even if their version range does not match. */
  ignoreCompatibility?: readonly string[] | undefined;
  /** The configuration file that names the extensions. */
  file?: string | undefined;
}

/**
 * Checks whether extensions fit the service and each other.
 * @param extensions all of them, with valid manifests
 * @returns warnings
 * @throws {ConfigError} with every fault
 */
export function checkExtensions(
  extensions: readonly Extension[],
  { ignoreCompatibility = [], file }: CheckOptions = {},
): string[] {
  // A pre-release counts as the version that it leads to.
  const incompatible = extensions.filter(
    ({ compatibility = '*' }) => !satisfies(VERSION, compatibility, { includePrerelease: true }),
  );
  stopOn([
    ...incompatible
      .filter((extension) => !ignoreCompatibility.includes(nameOf(extension)))
      .map((each) => {
        return `${incompatibility(each)}; --ignore-compatibility ${nameOf(each)} starts anyway`;
      }),
    ...repeated('error code', Object.keys(errors), extensions, (each) =>
      Object.keys(each.errors ?? {}),
    ),
    ...repeated('scope', [], extensions, ({ scopes = {} }) => Object.keys(scopes)),
    ...extensions.flatMap(defaultScopeFaults),
    ...secondCopies(extensions, file),
  ]);
  return incompatible.map((extension) => `${incompatibility(extension)}; starting anyway`);
}

/** @throws {ConfigError} with a line for each fault, if there is one */
export function stopOn(faults: readonly string[]): void {
  if (faults.length > 0) throw new ConfigError(faults);
}

/**
 * Untyped configurations may contain anything.
 * @throws {ConfigError} with every fault of the manifests
 */
export function assertManifests(extensions: readonly Extension[]): void {
  stopOn(extensions.flatMap(manifestFaults));
  stopOn([
    ...repetitions(extensions.map((each, index) => [nameOf(each), `number ${index + 1}`])).map(
      (fault) => `extension ${fault}`,
    ),
    ...repeated('command', COMMANDS, extensions, ({ commands = [] }) =>
      commands.map(({ name }) => name),
    ),
  ]);
}

/** A message for each name of a kind that is declared twice. */
function repeated(
  kind: string,
  ofService: readonly string[],
  extensions: readonly Extension[],
  namesOf: (extension: Extension) => readonly string[],
): string[] {
  const owned = extensions.map((each) => [`extension ${nameOf(each)}`, namesOf(each)] as const);
  return repetitions(
    [['the service', ofService] as const, ...owned].flatMap(([owner, names]) =>
      names.map((name) => [`${kind} ${name}`, owner] as const),
    ),
  );
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
const has = (value: unknown, method: string) =>
  isFunction((value as Record<string, unknown> | null | undefined)?.[method]);
const isModule = (value: unknown) => isFunction(value) || has(value, 'module');
const isText = (value: unknown): value is string => typeof value === 'string';
const isName = (name: unknown) => isText(name) && /^[a-z][a-z0-9-]*$/.test(name);
const isHeader = (name: string) => /^[\w!#$%&'*+.^`|~-]+$/.test(name);
const isMigration = (each: MigrationClass | null) =>
  has(each?.prototype, 'up') && /\d{13}$/.test(migrationName(each!));
const isVerifier = (given: { prototype?: unknown } | null) =>
  has(given?.prototype ?? given, 'verify');
const isError = ({ code, status, meaning }: ErrorDefinition, name: string) =>
  code === name &&
  /^[a-z][a-z0-9_]*$/.test(code) &&
  status >= 400 &&
  status < 600 &&
  isText(meaning);

/** A rule for every entry of an object or an array. */
function eachIs<T>(
  expected: string,
  isValid: (entry: T, name: string) => boolean,
): PropertyDecorator {
  return check((given: Record<string, T> | null) => {
    const wrong = Object.entries(given ?? {}).find(([name, entry]) => !isValid(entry, name));
    if (wrong === undefined) return undefined;
    const [name, entry] = wrong;
    return `must have ${expected}, not ${Array.isArray(given) ? shown(entry) : name}`;
  });
}

/** The rules of a manifest. */
class Manifest implements Record<keyof Extension, unknown> {
  @MayBeAbsent() @mustBe('lower case, such as store-orders', isName) name: unknown;
  @MayBeAbsent()
  @mustBe('a range of semver, such as ^1.0.0', (range: string) => validRange(range) !== null)
  compatibility: unknown;
  @mustBe('a class or a dynamic module of Nest', isModule) module: unknown;
  @MayBeAbsent()
  @IsArray()
  @eachIs('classes with a name such as CreateOrders1764720000000 and up()', isMigration)
  migrations: unknown;
  @MayBeAbsent()
  @IsObject()
  @eachIs(
    'scopes such as orders:read, each with a sentence',
    (text: unknown, name) => isScope(name) && isText(text),
  )
  scopes: unknown;
  @MayBeAbsent() @IsArray() @IsString({ each: true }) defaultScopes: unknown;
  @MayBeAbsent() @IsObject() @eachIs('tags, each with a sentence', isText) tags: unknown;
  @MayBeAbsent()
  @IsObject()
  @eachIs('errors of defineErrors() with a lower-case code and a status from 400 to 599', isError)
  errors: unknown;
  @MayBeAbsent()
  @mustBe(
    'a class with rules of class-validator',
    (type) => isFunction(type) && rulesOf(type as Type).length > 0,
  )
  settings: unknown;
  @MayBeAbsent() @IsArray() @eachIs('names of headers', isHeader) requestHeaders: unknown;
  @MayBeAbsent() @mustBe('an object or a class with verify()', isVerifier) verifier: unknown;
  @MayBeAbsent() @mustBe('a function', isFunction) seed: unknown;
  @MayBeAbsent() @IsArray() commands: unknown;
  @MayBeAbsent() @mustBe('import.meta.url', (url: string) => /^file:/.test(url)) from: unknown;
}

/** The rules of a command. */
class CommandShape implements Record<keyof ExtensionCommand, unknown> {
  @mustBe('lower case, such as close-orders', isName) name: unknown;
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
