import { existsSync, readFileSync } from 'node:fs';

/** The package.json is beside `src`, or beside `dist` where that was built. */
const [root] = ['../../package.json', '../../../package.json']
  .map((path) => new URL(path, import.meta.url))
  .filter(existsSync);

/** The release of this service. */
export const { version: VERSION } = JSON.parse(readFileSync(root!, 'utf8')) as { version: string };
