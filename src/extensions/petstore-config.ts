import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PetStoreConfig } from './define.js';

const FILE_NAME = 'petstore.config.js';

export interface LoadedConfig extends PetStoreConfig {
  /** Absolute path of the file. Undefined if there is none. */
  readonly file: string | undefined;
}

/** The configuration file cannot be used. */
export class ConfigFileError extends Error {}

/**
 * Loads the configuration file.
 * @param file the value of `--config`. Default: `petstore.config.js` in the working directory, if it exists
 * @throws {ConfigFileError}
 */
export async function loadPetStoreConfig(file?: string): Promise<LoadedConfig> {
  const path = resolve(file ?? FILE_NAME);
  if (!existsSync(path)) {
    if (file === undefined) return { file: undefined, extensions: [] };
    throw new ConfigFileError(`configuration file ${file} does not exist`);
  }
  const name = file ?? relative('', path);
  const config = await defaultExport(path, name);
  if (!Array.isArray(config?.extensions)) {
    throw new ConfigFileError(
      `${name} must have "export default defineConfig({ extensions: [...] })"`,
    );
  }
  return { file: path, extensions: config.extensions };
}

async function defaultExport(path: string, name: string): Promise<PetStoreConfig | undefined> {
  try {
    const loaded = (await import(pathToFileURL(path).href)) as { default?: PetStoreConfig };
    return loaded.default;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigFileError(`cannot load ${name}: ${message}`, { cause });
  }
}
