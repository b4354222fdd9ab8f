import { readFileSync } from 'node:fs';

/** The release of this service: our package.json is beside `src`, or beside `dist` where that was built. */
export const VERSION = versionAt('../../package.json') ?? versionAt('../../../package.json') ?? '0';

function versionAt(path: string): string | undefined {
  try {
    const text = readFileSync(new URL(path, import.meta.url), 'utf8');
    const { name, version } = JSON.parse(text) as { name?: string; version: string };
    return name === 'pet-store-service' ? version : undefined;
  } catch {
    return undefined;
  }
}
