import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PetStoreConfig } from './define.js';

export interface LoadedConfig extends PetStoreConfig {
  /** Absolute path of the file. Undefined if there is none. */
  readonly file: string | undefined;
}

/**
 * Loads the configuration file.
 * @param file the value of `--config`. Default: `petstore.config.js` in the working directory, if it exists
 * @throws {Error} if the file cannot be used
 */
export async function loadPetStoreConfig(file?: string): Promise<LoadedConfig> {
  const name = file ?? 'petstore.config.js';
  const path = resolve(name);
  if (!existsSync(path)) {
    if (file === undefined) return { file, extensions: [] };
    throw new Error(`configuration file ${file} does not exist`);
  }
  const loaded = (await import(pathToFileURL(path).href).catch((cause: unknown) => {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cannot load ${name}: ${message}`, { cause });
  })) as { default?: PetStoreConfig };
  const extensions = loaded.default?.extensions;
  if (Array.isArray(extensions)) return { file: path, extensions };
  throw new Error(`${name} must have "export default defineConfig({ extensions: [...] })"`);
}
