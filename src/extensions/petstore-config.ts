import { existsSync, lstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { IsArray, IsObject } from 'class-validator';
import { ConfigError } from '../core/config/config.js';
import { shapeFaults } from '../core/config/settings.js';
import { MayBeAbsent } from '../core/input/constrain.js';
import { Plans } from '../core/rate-limits/plan.js';
import { assertManifests, type CheckOptions } from './check.js';
import type { PetStoreConfig } from './define.js';

/** The rules of a configuration. */
class Shape implements Record<keyof PetStoreConfig, unknown> {
  @MayBeAbsent() @IsArray() extensions: unknown;
  @MayBeAbsent() @IsObject() plans: unknown;
}

const READ = /\.m?js$/;
/** A file with another ending would be ignored without a word. */
const ENDINGS = 'js mjs cjs ts mts cts json jsonc yaml yml toml'.split(' ');

/**
 * Loads the configuration file, with the extensions that it imports.
 * @param options `config`, by default `petstore.config.js` or `.mjs` in the working directory, if
 *   it exists
 * @throws {Error} if the file cannot be used
 */
export async function loadExtensions(
  options: { config?: string } & Pick<CheckOptions, 'ignoreCompatibility'>,
): Promise<
  Pick<PetStoreConfig, 'plans'> & Required<Pick<PetStoreConfig, 'extensions'>> & CheckOptions
> {
  const { config, ignoreCompatibility } = options;
  const name = config ?? defaultName();
  if (name === undefined) return { extensions: [] };
  const file = resolve(name);
  if (!existsSync(file)) throw new Error(`configuration file ${name} does not exist`);
  if (!READ.test(name)) {
    throw new Error(`${name} is not read: only .js and .mjs are, so compile or rename it`);
  }
  const onExit = () => {
    if (process.exitCode) return;
    process.stderr.write(`error: ${name}, or a file that it imports, calls process.exit()\n`);
    process.exitCode = 1;
  };
  process.on('exit', onExit);
  const loaded = (await import(pathToFileURL(file).href)
    .catch((cause: unknown) => {
      throw new Error(`cannot load ${name} (run node ${name} to see where)`, { cause });
    })
    .finally(() => process.off('exit', onExit))) as { default: PetStoreConfig };
  // An empty file is `{}` as CommonJS.
  const isObject = Object.prototype.toString.call(loaded.default) === '[object Object]';
  if (!isObject || Object.keys(loaded.default).length === 0) {
    throw new Error(`${name} must have "export default defineConfig({ extensions: [...] })"`);
  }
  const faults = shapeFaults(Shape, loaded.default);
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${name}: ${fault}`));
  const { extensions = [], plans } = loaded.default;
  assertManifests(extensions);
  new Plans(plans);
  return { file, extensions, plans, ignoreCompatibility };
}

function defaultName(): string | undefined {
  const names = ENDINGS.map((ending) => `petstore.config.${ending}`).filter(
    // A dangling symlink is an error, not a missing file.
    (name) => lstatSync(name, { throwIfNoEntry: false }) !== undefined,
  );
  const read = names.filter((name) => READ.test(name));
  if (read.length > 1) throw new Error(`there are ${read.join(' and ')}: remove one of them`);
  return read[0] ?? names[0];
}
