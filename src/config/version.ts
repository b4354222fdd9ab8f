import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The root of the package is two levels above `src/config`, or three above `dist/src/config`. */
export const PACKAGE_ROOT = ['../../', '../../../']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(`${path}package.json`))!;

/** The `package.json` of this service. */
export const MANIFEST = JSON.parse(readFileSync(`${PACKAGE_ROOT}package.json`, 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
};

/** The release of this service. */
export const VERSION = MANIFEST.version;
