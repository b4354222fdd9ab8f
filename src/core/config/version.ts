import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Three levels above `src/core/config`, or four above `dist/src/core/config`. */
export const PACKAGE_ROOT = ['../../../', '../../../../']
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
