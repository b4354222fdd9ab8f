import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

/** Packages that extensions import. */
const SHARED = [
  '@nestjs',
  'class-transformer',
  'class-validator',
  'jose',
  'reflect-metadata',
  'rxjs',
  'typeorm',
];

/** Installs `pet-store-service` and its peers in a directory. */
export function installService(directory: string): void {
  for (const name of SHARED) link(resolve('node_modules', name), directory, name);
  link(resolve('.'), directory, 'pet-store-service');
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }\n');
}

/** Compiles a TypeScript module into the directory, as the build of an extension does. */
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
