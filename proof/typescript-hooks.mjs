// Hooks of Node's module loader. TypeScript is compiled as in Jest, with the metadata of decorators,
// which Nest and TypeORM need and tsx does not write.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve as absolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from '@swc/core';

const OPTIONS = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    keepClassNames: true,
  },
  module: { type: 'es6' },
  isModule: true,
  sourceMaps: 'inline',
};
/** The package's own name means its sources. */
const OWN_NAMES = {
  'pet-store-service': 'src/index.ts',
  'pet-store-service/testing': 'src/testing.ts',
};

const compiled = new Map();

export async function resolve(specifier, context, next) {
  const own = OWN_NAMES[specifier];
  if (own !== undefined) return next(pathToFileURL(absolute(own)).href, context);
  if (specifier.startsWith('.') && /\.ts(\?|$)/.test(context.parentURL ?? '')) {
    const url = new URL(specifier.replace(/js$/, 'ts'), context.parentURL);
    if (existsSync(fileURLToPath(url))) return next(url.href, context);
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!/\.ts(\?|$)/.test(url)) return next(url, context);
  const filename = fileURLToPath(url);
  // Mutation loads its test files anew for each mutant.
  if (!compiled.has(filename)) compiled.set(filename, await compile(filename));
  return { format: 'module', source: compiled.get(filename), shortCircuit: true };
}

async function compile(filename) {
  const { code } = await transform(await readFile(filename, 'utf8'), { ...OPTIONS, filename });
  return code;
}
