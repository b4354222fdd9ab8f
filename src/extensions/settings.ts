import type { Type } from '@nestjs/common';
import type { Extension } from './define.js';

/** The settings classes of extensions, for `loadConfig`. */
export function settingsOf(extensions: readonly Extension[]): Type<object>[] {
  return extensions.flatMap(({ settings }) => settings ?? []);
}
