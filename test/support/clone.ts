import { cpSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TemporaryDirectory } from './temporary-directory.js';

const SOURCES = [
  'src',
  'clients',
  'docs',
  'templates',
  'scripts',
  'dist',
  'nest-cli.json',
  'ormconfig.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** A built copy of the repository, as after `npm ci` and `npm run build:service`. */
export function cloneOfRepository(): TemporaryDirectory {
  const copy = new TemporaryDirectory();
  for (const name of SOURCES) {
    // With the times of the files, which decide whether the build is stale.
    cpSync(name, join(copy.path, name), { recursive: true, preserveTimestamps: true });
  }
  symlinkSync(resolve('node_modules'), join(copy.path, 'node_modules'));
  return copy;
}
