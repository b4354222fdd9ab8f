import type { Type } from '@nestjs/common';
import { assertManifests } from './check.js';
import type { Extension } from './define.js';

/**
 * The settings classes of extensions, for `loadConfig`.
 * @throws {Error} with a line for each fault of their manifests
 */
export function settingsOf(extensions: readonly Extension[]): Type<object>[] {
  assertManifests(extensions);
  return extensions.flatMap(({ settings }) => settings ?? []);
}
