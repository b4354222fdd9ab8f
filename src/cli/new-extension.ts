import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { MANIFEST, PACKAGE_ROOT, VERSION } from '../core/config/version.js';
import { loadAllExtensions } from '../built-in.js';
import { fill } from '../docs/docs.files.js';
import type { CommonOptions, Result } from './add-command.js';

const TEMPLATES = join(PACKAGE_ROOT, 'templates/extension');
const PETS = join(PACKAGE_ROOT, 'src/pets');
const SUFFIX = '.template';

/**
 * `petstore new extension NAME`: writes the package of a new extension into the directory NAME,
 * with the tarball of the service if this service was installed from one. The extension `pets` is
 * a copy of the built-in one.
 */
export async function newExtension(name: string, options: CommonOptions): Promise<Result> {
  await loadAllExtensions(options);
  if (existsSync(name)) throw new Error(`${name} already exists`);
  const source = tarballOfService();
  const tarball = source && basename(source);
  const words = wordsOf(name, tarball);
  const templates = textsIn(TEMPLATES, SUFFIX).map(([path, text]): File => {
    return [fill(path.slice(0, -SUFFIX.length), words), fill(text, words)];
  });
  const isPets = name === 'pets';
  const sources = isPets ? copyOfPets() : [];
  const kept = isPets ? templates.filter(([path]) => !/^(?:src|test)\b/.test(path)) : templates;
  const files = [...kept, ...sources].map(([path, text]) => {
    const file = join(name, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  });
  if (source) copyFileSync(source, join(name, tarball!));
  const install = tarball ? 'npm install' : 'npm install --save-dev TARBALL';
  const hint = tarball ? '' : ' (npm pack in a clone of the service writes TARBALL)';
  const text = `Created ${files.length} files. Next steps${hint}:

  cd ${name}
  ${install}
  npm test

npm downloads a compiled SQLite from GitHub. If GitHub has none for Node.js ${process.version} on
${process.platform}-${process.arch}, or cannot be reached, npm compiles SQLite: this takes a minute or more, and needs
Python 3, make and a C++ compiler.`;
  return { value: { name, files: files.sort(), tarball }, text };
}

type File = [path: string, text: string];

function textsIn(folder: string, suffix: string): File[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(suffix))
    .map((path) => [path, readFileSync(join(folder, path), 'utf8')]);
}

/** The built-in extension, with the imports of a package. Its migrations keep their names. */
function copyOfPets(): File[] {
  const copies = textsIn(PETS, '.ts').map(([path, source]): File => {
    const text = source
      .replace("'../testing.js'", "'pet-store-service/testing'")
      .replace(/'\.\.\/.*\.js'/g, "'pet-store-service'")
      .replace("compatibility: '*'", `compatibility: '^${VERSION}'`);
    return path.endsWith('.spec.ts')
      ? [`test/${path.replace('.spec.', '.test.')}`, text.replaceAll("'./", "'../src/")]
      : [`src/${path}`, text];
  });
  return [...copies, ['src/index.ts', "export * from './pets.extension.js';\n"]];
}

/** The words that stand in double braces in names and texts of the templates. */
function wordsOf(name: string, tarball?: string): Record<string, string> {
  // For `@OnEvent()`.
  const events = '@nestjs/event-emitter';
  const peers = { ...MANIFEST.peerDependencies, [events]: MANIFEST.dependencies[events] };
  const pascal = name.replace(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase());
  const range = `^${VERSION}`;
  const service = tarball ? `file:${tarball}` : range;
  const names = new Set([name, 'pets']);
  return {
    name,
    pascal,
    camel: pascal[0]!.toLowerCase() + pascal.slice(1),
    snake: name.replaceAll('-', '_'),
    timestamp: String(Date.now()),
    range,
    scopes: [...names].flatMap((each) => [`${each}:read`, `${each}:write`]).join(','),
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
