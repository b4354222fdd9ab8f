import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package root is two levels above `src`, or three above `dist`. */
const ROOT = fileURLToPath(
  ['../../', '../../../']
    .map((path) => new URL(path, import.meta.url))
    .find((url) => existsSync(new URL('templates/extension', url)))!,
);
const TEMPLATES = join(ROOT, 'templates/extension');
const NAME = /^(?!(?:sqlite|pg)-)[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const MAX_LENGTH = 40;
/** Paths and error codes of the service, identifiers of the templates, and packages that the extension needs. */
const RESERVED =
  /^(?:pets?|usage|define|type-?orm|typescript|rxjs|class-(?:validator|transformer)|reflect-metadata|pet-store-service)$/;

/** The extension cannot be written. */
export class NewExtensionError extends Error {}

/** Why an extension cannot have this name. Undefined if it can. */
export function faultOfName(name: string): string | undefined {
  if (RESERVED.test(name)) return `the name ${name} is reserved`;
  if (NAME.test(name) && name.length <= MAX_LENGTH) return undefined;
  return `the name of an extension must be in kebab case, for example store-orders, not "${name}"`;
}

/**
 * Writes the package of a new extension into the directory NAME.
 * @returns the paths of the files, and the tarball of the service if this service was installed from one
 * @throws {NewExtensionError}
 */
export function writeExtension(
  name: string,
  nowMs: number,
): { files: string[]; tarball: string | undefined } {
  const fault = faultOfName(name) ?? (existsSync(name) ? `${name} already exists` : undefined);
  if (fault !== undefined) throw new NewExtensionError(fault);
  const source = tarballOfService();
  const tarball = source && basename(source);
  const words = wordsOf(name, nowMs, tarball);
  const files = readdirSync(TEMPLATES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.template'))
    .map((path) => {
      // npm leaves `.gitignore` out of a package, so the template has no dot.
      const target = path.slice(0, -'.template'.length).replace(/^(git|docker)ignore/, '.$1ignore');
      const file = join(name, target.replace(/(^|[/\\-])name\./, `$1${name}.`));
      mkdirSync(dirname(file), { recursive: true });
      const text = readFileSync(join(TEMPLATES, path), 'utf8');
      writeFileSync(
        file,
        text.replace(/\{\{(\w+)\}\}/g, (_match, word: string) => words[word]!),
      );
      return relative('', file);
    });
  if (source) copyFileSync(source, join(name, tarball!));
  return { files: files.sort(), tarball };
}

function wordsOf(name: string, nowMs: number, tarball?: string): Record<string, string> {
  const own = readJson<{ version: string; peerDependencies: object }>(join(ROOT, 'package.json'));
  const pascal = name.replace(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase());
  const camel = pascal[0]!.toLowerCase() + pascal.slice(1);
  const range = `^${own.version}`;
  const peers = { ...own.peerDependencies, 'pet-store-service': range };
  const [snake, timestamp] = [name.replaceAll('-', '_'), String(nowMs)];
  const service = tarball ? `file:${tarball}` : range;
  return { name, pascal, camel, snake, timestamp, range, service, peers: JSON.stringify(peers) };
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
