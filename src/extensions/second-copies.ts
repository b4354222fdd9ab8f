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
  const importers = extensions.flatMap((extension): [label: string, path: string][] =>
    extension.from === undefined
      ? []
      : [[`extension ${nameOf(extension)}`, fileURLToPath(extension.from)]],
  );
  if (file !== undefined) importers.push(['the configuration', file]);
  return importers.flatMap(([label, path]) =>
    SHARED.flatMap((name) => {
      const [theirs, own] = [folderOf(name, path), folderOf(name, fileURLToPath(import.meta.url))];
      if (theirs === undefined || own === undefined || theirs === own) return [];
      return [`${label} uses a second copy of ${name}: ${theirs} beside ${own}; install it once`];
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
