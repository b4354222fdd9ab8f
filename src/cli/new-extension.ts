import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { MANIFEST, PACKAGE_ROOT, VERSION } from '../config/version.js';
import { loadExtensions } from '../extensions/petstore-config.js';
import { fill } from '../openapi/docs.files.js';
import type { CommonOptions, Result } from './add-command.js';

const TEMPLATES = join(PACKAGE_ROOT, 'templates/extension');
const SUFFIX = '.template';

/**
 * `petstore new extension NAME`: writes the package of a new extension into the directory NAME,
 * with the tarball of the service if this service was installed from one.
 */
export async function newExtension(name: string, options: CommonOptions): Promise<Result> {
  await loadExtensions(options);
  if (existsSync(name)) throw new Error(`${name} already exists`);
  const source = tarballOfService();
  const tarball = source && basename(source);
  const words = wordsOf(name, tarball);
  const templates = readdirSync(TEMPLATES, { recursive: true, encoding: 'utf8' });
  const files = templates
    .filter((path) => path.endsWith(SUFFIX))
    .map((path) => {
      const file = join(name, fill(path.slice(0, -SUFFIX.length), words));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, fill(readFileSync(join(TEMPLATES, path), 'utf8'), words));
      return file;
    });
  if (source) copyFileSync(source, join(name, tarball!));
  const install = tarball ? 'npm install' : 'npm install --save-dev TARBALL';
  const hint = tarball ? '' : ' (npm pack in a clone of the service writes TARBALL)';
  const text = `Created ${files.length} files. Next steps${hint}:

  cd ${name}
  ${install}
  npm test`;
  return { value: { name, files: files.sort(), tarball }, text };
}

/** The words that stand in double braces in names and texts of the templates. */
function wordsOf(name: string, tarball?: string): Record<string, string> {
  // For `@OnEvent()`.
  const events = '@nestjs/event-emitter';
  const peers = { ...MANIFEST.peerDependencies, [events]: MANIFEST.dependencies[events] };
  const pascal = name.replace(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase());
  const range = `^${VERSION}`;
  const service = tarball ? `file:${tarball}` : range;
  return {
    name,
    pascal,
    camel: pascal[0]!.toLowerCase() + pascal.slice(1),
    snake: name.replaceAll('-', '_'),
    timestamp: String(Date.now()),
    range,
    peers: JSON.stringify({ ...peers, 'pet-store-service': range }),
    // yarn installs no peers of the project itself.
    development: JSON.stringify({ ...peers, 'pet-store-service': service }).slice(1, -1),
  };
}

/** The tarball that npm has installed the service from, by npm's hidden lockfile. */
function tarballOfService(): string | undefined {
  const lockfile = join(PACKAGE_ROOT, '../.package-lock.json');
  if (!existsSync(lockfile)) return undefined;
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as {
    packages: Record<string, { resolved?: string }>;
  };
  const { resolved } = packages['node_modules/pet-store-service'] ?? {};
  if (!resolved?.startsWith('file:')) return undefined;
  return resolve(PACKAGE_ROOT, '../..', resolved.slice('file:'.length));
}
