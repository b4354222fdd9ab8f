import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Extension, PetStoreConfig } from './define.js';

const FILE_NAME = 'petstore.config.js';

/** What a configuration file says, and which file that was. */
export interface LoadedConfig extends PetStoreConfig {
  /** Undefined where there is none. */
  readonly file: string | undefined;
}

/** The configuration file cannot be used as it is. */
export class ConfigFileError extends Error {}

/**
 * The extensions that the service is run with.
 * @param file of `--config`; else `petstore.config.js` of the working directory, where there is one
 * @throws {ConfigFileError}
 */
export async function loadPetStoreConfig(file?: string): Promise<LoadedConfig> {
  const path = resolve(file ?? FILE_NAME);
  if (!existsSync(path)) {
    if (file === undefined) return { file: undefined, extensions: [] };
    throw new ConfigFileError(`There is no configuration file ${file}`);
  }
  const name = file ?? relative('', path);
  return { file: path, extensions: extensionsOf(await defaultExport(path, name), name) };
}

async function defaultExport(path: string, name: string): Promise<unknown> {
  try {
    const loaded = (await import(pathToFileURL(path).href)) as { default?: unknown };
    return loaded.default;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ConfigFileError(`${name} cannot be loaded: ${message}`, { cause: error });
  }
}

function extensionsOf(config: unknown, name: string): readonly Extension[] {
  if (typeof config !== 'object' || config === null || !('extensions' in config)) {
    throw new ConfigFileError(
      `${name} must say "export default defineConfig({ extensions: [...] })"`,
    );
  }
  const unknown = Object.keys(config).filter((member) => member !== 'extensions');
  if (unknown.length > 0) {
    throw new ConfigFileError(`${name} says ${unknown.join(', ')}, which nothing reads`);
  }
  if (!Array.isArray(config.extensions)) {
    throw new ConfigFileError(`extensions in ${name} must be a list`);
  }
  return config.extensions as Extension[];
}
