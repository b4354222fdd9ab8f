import type { DynamicModule, INestApplicationContext, Type } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { ExtensionMigrations, MigrationClass } from '../core/database/extension-migrations.js';
import type { ErrorDefinition } from '../core/errors/api-error.js';
import { errors as coreErrors } from '../core/errors/errors.js';
import type { TokenVerifier } from '../core/keys/verifiers.js';
import type { OwnPlans } from '../core/rate-limits/plan.js';

/** An addition to the service: a Nest module and its manifest. */
export interface Extension {
  /**
   * Lower case, for example `store-orders`. It prefixes the names of the migrations and appears in
   * messages.
   */
  readonly name?: string;
  /** Semver range of the service versions that the extension works with. */
  readonly compatibility?: string;
  /**
   * Its controllers are served under `/v1`; its entities are found by `TypeOrmModule.forFeature`.
   */
  readonly module: Type | DynamicModule;
  /** Run after the migrations of the core, in the order of their timestamps. */
  readonly migrations?: readonly MigrationClass[];
  /** Scopes that its operations require, with a description of what each allows. */
  readonly scopes?: Readonly<Record<string, string>>;
  /** Scopes of a key that is issued without an explicit list. */
  readonly defaultScopes?: readonly string[];
  /** Descriptions of the tags that its operations have in the document (`@ApiTags('orders')`). */
  readonly tags?: Readonly<Record<string, string>>;
  /** Error codes of the extension, made by `defineErrors`. */
  readonly errors?: Readonly<Record<string, ErrorDefinition>>;
  /**
   * Class with class-validator rules. It is filled from the environment and injected by its class.
   */
  readonly settings?: Type<object>;
  /** Request headers that scripts of other origins may send. */
  readonly requestHeaders?: readonly string[];
  /**
   * Authenticates bearer tokens that are not keys of the service. A class must be a provider of the
   * module.
   */
  readonly verifier?: TokenVerifier | Type<TokenVerifier>;
  /** Adds sample data, for `petstore seed` and the first start. */
  readonly seed?: Seed;
  /** Commands of the command line: `petstore NAME ARGS...`. */
  readonly commands?: readonly ExtensionCommand[];
  /** `import.meta.url`, to detect second copies of shared packages beside the extension. */
  readonly from?: string;
}

/** A command of the command line. */
export interface ExtensionCommand {
  /** Lower case, for example `orders`. */
  readonly name: string;
  /** One line, for `petstore --help`. */
  readonly description: string;
  /**
   * Runs the command. Standard output belongs to it. If it throws, the message is printed and the
   * exit code is 1.
   * @param app has every provider of the service and of its extensions; it does not listen
   * @param args the arguments after the name, without `--config` and `--ignore-compatibility`
   */
  run(app: INestApplicationContext, args: string[]): unknown;
}

/**
 * Adds sample data.
 * @param count the N of `petstore seed --pets N`; undefined at the first start, which adds a few
 *   rows to empty tables
 * @returns the added data in words, such as `30 sample pets`; undefined if nothing was added
 */
export type Seed = (dataSource: DataSource, count?: number) => Promise<string | undefined>;

/** An extension in a `petstore.config.js`. */
export type NamedExtension = Extension & Required<Pick<Extension, 'name' | 'compatibility'>>;

/** The default export of `petstore.config.js`. */
export interface PetStoreConfig {
  readonly extensions?: readonly Extension[];
  /** Further plans, and other limits of Free, Pro and Business, by name. */
  readonly plans?: OwnPlans | undefined;
}

/** Returns the extension as it is, with its type checked: an unknown property does not compile. */
export function defineExtension<const Defined extends NamedExtension>(
  extension: Defined & Record<Exclude<keyof Defined, keyof Extension>, never>,
): Defined {
  return extension;
}

/** Returns the configuration as it is, with its type checked. */
export function defineConfig(config: PetStoreConfig): PetStoreConfig {
  return config;
}

/** The name of an extension; default: its module's name. */
export function nameOf({ name, module }: Extension): string {
  return name ?? ('module' in module ? module.module : module).name;
}

/** The migrations of each extension. */
export function migrationsOf(extensions: readonly Extension[]): ExtensionMigrations[] {
  return extensions.map((each) => {
    return { owner: nameOf(each), migrations: each.migrations ?? [] };
  });
}

/** The error codes of the core and of extensions, by code. */
export function errorsOf(extensions: readonly Extension[]): ReadonlyMap<string, ErrorDefinition> {
  const tables = [coreErrors, ...extensions.map(({ errors = {} }) => errors)];
  const definitions = tables.flatMap((each) => Object.values<ErrorDefinition>(each));
  return new Map(definitions.map((each) => [each.code, each]));
}

/**
 * Runs the seeds of extensions.
 * @returns the added data in words; empty if nothing was added
 */
export async function runSeeds(
  extensions: readonly Extension[],
  dataSource: DataSource,
  count?: number,
): Promise<string> {
  const added: (string | undefined)[] = [];
  for (const { seed } of extensions) added.push(await seed?.(dataSource, count));
  return added.filter(Boolean).join(', ');
}
