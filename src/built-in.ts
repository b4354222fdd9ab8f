import { accountExtension } from './account/account.extension.js';
import { assertManifests } from './extensions/check.js';
import type { Extension } from './extensions/define.js';
import { loadExtensions } from './extensions/petstore-config.js';
import { petsExtension } from './pets/pets.extension.js';

/** The extensions that come with the service. */
const BUILT_IN: readonly Extension[] = [petsExtension, accountExtension];

/**
 * The extensions that come with the service, and the given ones. A given extension takes the place
 * of a built-in extension with the same name.
 * @throws {ConfigError} if the given extensions are no manifests
 */
export function withBuiltIn(extensions: readonly Extension[]): Extension[] {
  assertManifests(extensions);
  const names = extensions.map(({ name }) => name);
  return [...BUILT_IN.filter(({ name }) => !names.includes(name)), ...extensions];
}

/** Loads the configuration file; its extensions are all that the service has. */
export async function loadAllExtensions(options: Parameters<typeof loadExtensions>[0]) {
  const loaded = await loadExtensions(options);
  return { ...loaded, extensions: withBuiltIn(loaded.extensions) };
}
