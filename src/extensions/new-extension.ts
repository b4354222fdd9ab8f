import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package root is two levels above `src`, or three above `dist`. */
const ROOT = fileURLToPath(
  ['../../', '../../../']
    .map((path) => new URL(path, import.meta.url))
    .find((url) => existsSync(new URL('templates/extension', url)))!,
);
const TEMPLATES = join(ROOT, 'templates/extension');
const SUFFIX = '.template';
const NAME = /^(?!(?:sqlite|pg)-)[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
/** Paths of the service, an identifier of the templates, and packages that the extension needs. */
const RESERVED = ['pet', 'pets', 'usage', 'define', 'typeorm', 'typescript', 'pet-store-service'];

/** Why an extension cannot have this name. Undefined if it can. */
export function faultOfName(name: string): string | undefined {
  if (RESERVED.includes(name)) return `the name ${name} is reserved`;
  if (NAME.test(name) && name.length <= 40) return undefined;
  return `the name of an extension must be in kebab case, for example store-orders, not "${name}"`;
}

/**
 * Writes the package of a new extension into the directory NAME.
 * @param name a name without a fault
 * @returns the paths of the files, and the tarball of the service if this service was installed from one
 */
export function writeExtension(
  name: string,
  nowMs: number,
): { files: string[]; tarball: string | undefined } {
  if (existsSync(name)) throw new Error(`${name} already exists`);
  const source = tarballOfService();
  const tarball = source && basename(source);
  const words = wordsOf(name, nowMs, tarball);
  const fill = (text: string): string =>
    text.replace(/\{\{(\w+)\}\}/g, (_match, word: string) => words[word]!);
  const templates = readdirSync(TEMPLATES, { recursive: true, encoding: 'utf8' });
  const files = templates
    .filter((path) => path.endsWith(SUFFIX))
    .map((path) => {
      const file = join(name, fill(path.slice(0, -SUFFIX.length)));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, fill(readFileSync(join(TEMPLATES, path), 'utf8')));
      return file;
    });
  if (source) copyFileSync(source, join(name, tarball!));
  return { files: files.sort(), tarball };
}

/** The words that stand in double braces in names and texts of the templates. */
function wordsOf(name: string, nowMs: number, tarball?: string): Record<string, string> {
  const own = readJson<{ version: string; peerDependencies: object }>(join(ROOT, 'package.json'));
  const pascal = name.replace(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase());
  const range = `^${own.version}`;
  return {
    name,
    pascal,
    camel: pascal[0]!.toLowerCase() + pascal.slice(1),
    snake: name.replaceAll('-', '_'),
    timestamp: String(nowMs),
    range,
    service: tarball ? `file:${tarball}` : range,
    peers: JSON.stringify({ ...own.peerDependencies, 'pet-store-service': range }),
  };
}

/** The tarball that npm has installed the service from, by npm's hidden lockfile. */
function tarballOfService(): string | undefined {
  const lockfile = join(ROOT, '../.package-lock.json');
  if (!existsSync(lockfile)) return undefined;
  const { packages } = readJson<{ packages: Record<string, { resolved?: string }> }>(lockfile);
  const { resolved = '' } = packages['node_modules/pet-store-service'] ?? {};
  const tarball = /\.tgz$/.test(resolved) && resolve(ROOT, '../..', resolved.replace('file:', ''));
  return tarball && existsSync(tarball) ? tarball : undefined;
}

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(file, 'utf8')) as Content;
}
