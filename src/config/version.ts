import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The root of the package is two levels above `src/config`, or three above `dist/src/config`. */
export const PACKAGE_ROOT = ['../../', '../../../']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(`${path}package.json`))!;

const manifest = readFileSync(`${PACKAGE_ROOT}package.json`, 'utf8');

/** The release of this service. */
export const { version: VERSION } = JSON.parse(manifest) as { version: string };
