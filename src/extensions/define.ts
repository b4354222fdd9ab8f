import type { DynamicModule, Type } from '@nestjs/common';
import type { ExtensionMigrations, MigrationClass } from '../database/extension-migrations.js';
import type { ErrorDefinition } from '../errors/api-error.js';
import type { TokenVerifier } from '../keys/verifier.js';

/** What somebody else adds to the service: a Nest module, and what the service has to know of it. */
export interface Extension {
  /** In lower case, as `store-orders`: whose its migrations are, and whom a message speaks of. */
  readonly name?: string;
  /** The versions of the service that it works with, as a range of semantic versions. */
  readonly compatibility?: string;
  /** Its operations are served under `/v1`, its entities found by `TypeOrmModule.forFeature`. */
  readonly module: Type | DynamicModule;
  /** Run after those of the service itself, in the order of their timestamps. */
  readonly migrations?: readonly MigrationClass[];
  /** What its operations require of a key, and what that allows. */
  readonly scopes?: Readonly<Record<string, string>>;
  /** What it answers with besides the service's own, made by `defineErrors`. */
  readonly errors?: Readonly<Record<string, ErrorDefinition>>;
  /** A class whose members have rules of class-validator: read from the environment, injected by it. */
  readonly settings?: Type<object>;
  /** Header fields that scripts of other origins may send, besides ours. */
  readonly requestHeaders?: readonly string[];
  /** Knows callers by other tokens than the service's own keys; a class is made by Nest. */
  readonly verifier?: TokenVerifier | Type<TokenVerifier>;
  /** Its `import.meta.url`: a second copy of what both use is looked for from there. */
  readonly from?: string;
}

/** An extension that stands in a `petstore.config.js`. */
export type NamedExtension = Extension & Required<Pick<Extension, 'name' | 'compatibility'>>;

/** What `petstore.config.js` exports as its default. */
export interface PetStoreConfig {
  readonly extensions: readonly Extension[];
}

/** An extension is plain data, which may be spread into another one. */
export function defineExtension<const Defined extends NamedExtension>(extension: Defined): Defined {
  return extension;
}

export function defineConfig(config: PetStoreConfig): PetStoreConfig {
  return config;
}

/** What it is called: that of its module, where it has no name of its own. */
export function nameOf({ name, module }: Extension): string {
  return name ?? ('module' in module ? module.module : module).name;
}

export function migrationsOf(extensions: readonly Extension[]): ExtensionMigrations[] {
  return extensions.map((extension) => ({
    owner: nameOf(extension),
    migrations: extension.migrations ?? [],
  }));
}
