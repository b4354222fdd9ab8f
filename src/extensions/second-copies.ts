import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Extension, nameOf } from './define.js';

/** What there must be one of: metadata, classes and tokens of one copy mean nothing to another. */
const SHARED = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/event-emitter',
  '@nestjs/platform-fastify',
  '@nestjs/swagger',
  '@nestjs/throttler',
  '@nestjs/typeorm',
  'class-transformer',
  'class-validator',
  'pet-store-service',
  'reflect-metadata',
  'rxjs',
  'typeorm',
];
const OURS = fileURLToPath(import.meta.url);

/** For each package that is found elsewhere from an extension, or from the configuration, than from here. */
export function secondCopies(extensions: readonly Extension[], file?: string): string[] {
  const places = extensions.flatMap((extension) =>
    extension.from === undefined
      ? []
      : [{ whose: `The extension ${nameOf(extension)}`, path: pathOf(extension.from) }],
  );
  if (file !== undefined) places.push({ whose: 'The configuration', path: file });
  const faults = places.flatMap(({ whose, path }) =>
    SHARED.flatMap((name) => {
      const [theirs, ours] = [folderOf(name, path), folderOf(name, OURS)];
      if (theirs === undefined || ours === undefined || theirs === ours) return [];
      return [`${whose} uses a second copy of ${name}: ${theirs} beside ${ours}; install it once`];
    }),
  );
  return [...new Set(faults)];
}

function pathOf(from: string): string {
  return from.startsWith('file:') ? fileURLToPath(from) : from;
}

/**
 * Where an import finds a package. Not by resolving it: one may export nothing that can be resolved, as
 * `typeorm` does not its `package.json`.
 */
function folderOf(name: string, importer: string): string | undefined {
  const folders = createRequire(realOf(importer)).resolve.paths(name) ?? [];
  const folder = folders.map((each) => join(each, name)).find((each) => existsSync(each));
  return folder && realpathSync(folder);
}

function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
