import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errors } from '../errors/errors.js';

/** The templates are beside `src`, or beside `dist` where that was built. */
const ROOT = ['../../', '../../../']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(new URL('templates/extension', url)))!;
const SUFFIX = '.template';

const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const MAX_LENGTH = 40;
/** The paths, and the scopes, of the service itself. */
const OUR_PATHS = ['pets', 'usage'];
/** Those of the service's tables, and of TypeORM's, that a name could be made into. */
export const OUR_TABLES = [
  'api_keys',
  'audit_records',
  'idempotency_records',
  'migrations',
  'pets',
  'rate_limit_bans',
  'rate_limit_counters',
  'typeorm_metadata',
  'usage_hours',
  'usage_refusals',
];
/** Engines keep tables of these names to themselves. */
const TABLES_OF_ENGINES = /^(?:sqlite|pg)_/;
/** Would be declared twice in what is written. */
const IMPORTED = ['define', 'type-orm'];
/** No name of a constant, or one that the template's files have already. */
const TAKEN_IDENTIFIERS = new Set([
  ...'arguments await break case catch class const continue debugger default delete do else enum eval'.split(
    ' ',
  ),
  ...'export extends false finally for function globalThis if implements import in instanceof'.split(
    ' ',
  ),
  ...'interface let new null package private protected public return static super switch this'.split(
    ' ',
  ),
  ...'throw true try typeof undefined var void while with yield'.split(' '),
  ...'after assert before defineConfig defineExtension describe it key post process'.split(' '),
  ...'startTestStore store'.split(' '),
]);

/** Of ours, what an extension imports by itself. */
const EVENTS = '@nestjs/event-emitter';

interface Package {
  version: string;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
}

/** The extension cannot be written there. */
export class NewExtensionError extends Error {}

/** Why no extension can be called that; undefined where one can. */
export function faultOfName(name: string): string | undefined {
  if (!NAME.test(name) || name.length > MAX_LENGTH) {
    return `the name of an extension must be like store-orders, and not ${name}`;
  }
  const table = snake(name);
  if (OUR_PATHS.includes(name)) return taken(name, `/v1/${name} is the service's own`);
  if (OUR_TABLES.includes(table)) return taken(name, `the service has a table ${table}`);
  if (TABLES_OF_ENGINES.test(table)) {
    return taken(name, `a database keeps tables named ${table} to itself`);
  }
  const code = `${table}_not_found`;
  if (Object.hasOwn(errors, code)) return taken(name, `the service has an error ${code}`);
  if (Object.hasOwn({ ...dependenciesOf(ownPackage()), ...DEV_DEPENDENCIES }, name)) {
    return taken(name, 'it needs a package of that name');
  }
  if (IMPORTED.includes(name)) return taken(name, 'what it imports is called like that');
  return undefined;
}

function taken(name: string, why: string): string {
  return `an extension cannot be called ${name}: ${why}`;
}

/**
 * Writes a package with an extension, whose tests pass as it is. Returns the paths that were written.
 * @param name as `store-orders`: also of the directory, which must not be there
 * @throws {NewExtensionError} also of a name that `faultOfName` finds fault with
 */
export function writeExtension(name: string, nowMs: number): string[] {
  const fault = faultOfName(name);
  if (fault !== undefined) throw new NewExtensionError(fault);
  if (existsSync(name)) throw new NewExtensionError(`${name} is there already`);
  const templates = fileURLToPath(new URL('templates/extension', ROOT));
  const own = ownPackage();
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
  const camel = pascal[0]!.toLowerCase() + pascal.slice(1);
  return {
    name,
    pascal,
    camel,
    extension: TAKEN_IDENTIFIERS.has(camel) ? `${camel}Extension` : camel,
    snake: snake(name),
    timestamp: String(nowMs),
    version,
  };
}

function filledIn(text: string, words: Record<string, string>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_match, word: string) => words[word]!);
}

function snake(name: string): string {
  return name.replaceAll('-', '_');
}

function ownPackage(): Package {
  return JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as Package;
}

function dependenciesOf(own: Package): Record<string, string> {
  return {
    ...own.peerDependencies,
    [EVENTS]: own.dependencies[EVENTS]!,
    'pet-store-service': `^${own.version}`,
  };
}

const DEV_DEPENDENCIES = { '@types/node': '^20.19.0', typescript: '^6.0.0' };

function packageOf(name: string, own: Package): string {
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
    dependencies: dependenciesOf(own),
    devDependencies: DEV_DEPENDENCIES,
  };
  return `${JSON.stringify(made, undefined, 2)}\n`;
}

function write(directory: string, path: string, text: string): string {
  const file = join(directory, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { flag: 'wx' });
  return relative('', file);
}
