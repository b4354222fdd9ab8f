import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

/** What a guest imports; found where a package manager would have put it, once for all. */
const SHARED = [
  '@nestjs',
  'class-transformer',
  'class-validator',
  'jose',
  'reflect-metadata',
  'rxjs',
  'typeorm',
];

/** Makes a directory one that `pet-store-service` is installed in, and the peers with it. */
export function installService(directory: string): void {
  for (const name of SHARED) link(resolve('node_modules', name), directory, name);
  link(resolve('.'), directory, 'pet-store-service');
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }\n');
}

/** Compiles a module of TypeScript into the directory, as a guest's own build does. */
export function writeModule(directory: string, name: string, source: string): void {
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  });
  writeFileSync(join(directory, name), outputText);
}

function link(target: string, directory: string, name: string): void {
  const path = join(directory, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
