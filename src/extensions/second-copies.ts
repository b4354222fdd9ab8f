import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Extension, nameOf } from './define.js';

/** Classes, metadata and injection tokens of a second copy do not match those of the first. */
const SHARED = [
  '@nestjs/common',
  '@nestjs/core',
  'typeorm',
  'class-validator',
  'class-transformer',
  'pet-store-service',
];

/** Finds packages that an extension, or the configuration file, would import from another folder than this service. */
export function secondCopies(extensions: readonly Extension[], file?: string): string[] {
  const own = fileURLToPath(import.meta.url);
  const importers = [
    ...extensions.map((each) => ({
      label: `extension ${nameOf(each)}`,
      path: each.from && fileURLToPath(each.from),
    })),
    { label: 'the configuration', path: file },
  ];
  return importers.flatMap(({ label, path }) =>
    SHARED.flatMap((name) => {
      const [theirs, ours] = [path && folderOf(name, path), folderOf(name, own)];
      if (!theirs || !ours || theirs === ours) return [];
      return [`${label} uses a second copy of ${name}: ${theirs} beside ${ours}; install it once`];
    }),
  );
}

/** Searches the folders instead of resolving the package, because `typeorm` does not export its `package.json`. */
function folderOf(name: string, importer: string): string | undefined {
  const from = existsSync(importer) ? realpathSync(importer) : importer;
  const folder = (createRequire(from).resolve.paths(name) ?? [])
    .map((each) => join(each, name))
    .find((each) => existsSync(each));
  return folder && realpathSync(folder);
}
