import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CheckOptions } from './check.js';
import { Plans } from '../rate-limits/plan.js';
import type { PetStoreConfig } from './define.js';

/**
 * Loads the configuration file, with the extensions that it imports.
 * @param options `config`, by default `petstore.config.js` in the working directory, if it exists
 * @throws {Error} if the file cannot be used
 */
export async function loadExtensions(
  options: { config?: string } & Pick<CheckOptions, 'ignoreCompatibility'>,
): Promise<PetStoreConfig & CheckOptions> {
  const { config, ignoreCompatibility } = options;
  const name = config ?? 'petstore.config.js';
  const file = resolve(name);
  if (!existsSync(file)) {
    if (config === undefined) return { extensions: [] };
    throw new Error(`configuration file ${config} does not exist`);
  }
  const loaded = (await import(pathToFileURL(file).href).catch((cause: unknown) => {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cannot load ${name}: ${message}`, { cause });
  })) as { default?: PetStoreConfig };
  const { extensions, plans } = loaded.default ?? {};
  if (!Array.isArray(extensions)) {
    throw new Error(`${name} must have "export default defineConfig({ extensions: [...] })"`);
  }
  try {
    new Plans(plans);
  } catch (cause) {
    throw new Error(`${name}: ${(cause as Error).message}`, { cause });
  }
  return { file, extensions, plans, ignoreCompatibility };
}
