import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Extension, PetStoreConfig } from './define.js';

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
  return { file: path, extensions: extensionsOf(await defaultExport(path, name), name) };
}

async function defaultExport(path: string, name: string): Promise<unknown> {
  try {
    const loaded = (await import(pathToFileURL(path).href)) as { default?: unknown };
    return loaded.default;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigFileError(`cannot load ${name}: ${message}`, { cause });
  }
}

function extensionsOf(config: unknown, name: string): readonly Extension[] {
  if (typeof config !== 'object' || config === null || !('extensions' in config)) {
    throw new ConfigFileError(
      `${name} must have "export default defineConfig({ extensions: [...] })"`,
    );
  }
  const unknown = Object.keys(config).filter((member) => member !== 'extensions');
  if (unknown.length > 0) {
    throw new ConfigFileError(`${name}: unknown property ${unknown.join(', ')}`);
  }
  if (!Array.isArray(config.extensions)) {
    throw new ConfigFileError(`${name}: extensions must be an array`);
  }
  return config.extensions as Extension[];
}
