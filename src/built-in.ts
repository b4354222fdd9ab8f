import { accountExtension } from './account/account.extension.js';
import type { Extension } from './extensions/define.js';
import { loadExtensions } from './extensions/petstore-config.js';
import { petsExtension } from './pets/pets.extension.js';

/** The extensions that come with the service. */
const BUILT_IN: readonly Extension[] = [petsExtension, accountExtension];

/**
 * The extensions that come with the service, and the given ones. A given extension takes the place
 * of a built-in extension with the same name.
 */
export function withBuiltIn(extensions: readonly Extension[]): Extension[] {
  const names = BUILT_IN.map(({ name }) => name);
  // A configuration in JavaScript may list anything; `checkExtensions` reports it.
  const isAdded = (each: Extension | null) => !names.includes(each?.name);
  const own = BUILT_IN.filter(({ name }) => extensions.every((each) => each?.name !== name));
  const [added, replacing] = [extensions.filter(isAdded), extensions.filter((x) => !isAdded(x))];
  return [...replacing, ...own, ...added];
}

/** Loads the configuration file; its extensions are all that the service has. */
export async function loadAllExtensions(options: Parameters<typeof loadExtensions>[0]) {
  const loaded = await loadExtensions(options);
  return { ...loaded, extensions: withBuiltIn(loaded.extensions) };
}
