import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** In the package, beside what is compiled. */
const ROOT = new URL('../../../', import.meta.url);
const SUFFIX = '.template';

interface Package {
  version: string;
  peerDependencies: Record<string, string>;
}

/** The extension cannot be written there. */
export class NewExtensionError extends Error {}

/**
 * Writes a package with an extension, whose tests pass as it is. Returns the paths that were written.
 * @param name as `store-orders`: also of the directory, which must not be there
 * @throws {NewExtensionError}
 */
export function writeExtension(name: string, nowMs: number): string[] {
  if (existsSync(name)) throw new NewExtensionError(`${name} is there already`);
  const templates = fileURLToPath(new URL('templates/extension', ROOT));
  const own = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as Package;
  const words = wordsOf(name, own.version, nowMs);
  const written = readdirSync(templates, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(SUFFIX))
    .map((path) => {
      const text = readFileSync(join(templates, path), 'utf8');
      return write(name, pathFor(path, name), filledIn(text, words));
    });
  written.push(write(name, 'package.json', packageOf(name, own)));
  return written.sort();
}

/** `name.module.ts` is the module's, `gitignore` a file that npm would leave out of a package. */
function pathFor(template: string, name: string): string {
  return template
    .slice(0, -SUFFIX.length)
    .replace(/(^|[/\\-])name\./, `$1${name}.`)
    .replace(/^gitignore$/, '.gitignore');
}

function wordsOf(name: string, version: string, nowMs: number): Record<string, string> {
  const pascal = name.replace(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase());
  return {
    name,
    pascal,
    camel: pascal[0]!.toLowerCase() + pascal.slice(1),
    snake: name.replaceAll('-', '_'),
    timestamp: String(nowMs),
    version,
  };
}

function filledIn(text: string, words: Record<string, string>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_match, word: string) => words[word]!);
}

function packageOf(name: string, { version, peerDependencies }: Package): string {
  const made = {
    name,
    version: '1.0.0',
    private: true,
    type: 'module',
    exports: './dist/src/index.js',
    scripts: {
      build: 'tsc',
      start: 'petstore serve',
      test: `tsc && node --test dist/test/${name}.test.js`,
    },
    dependencies: { ...peerDependencies, 'pet-store-service': `^${version}` },
    devDependencies: { '@types/node': '^20.19.0', typescript: '^6.0.0' },
  };
  return `${JSON.stringify(made, undefined, 2)}\n`;
}

function write(directory: string, path: string, text: string): string {
  const file = join(directory, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { flag: 'wx' });
  return relative('', file);
}
