import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { TemporaryDirectory } from '../support/temporary-directory.js';

const SNIPPET = /^```ts\n(.*?)^```/gms;

/** The packages that a new extension lists, alone: pnpm shows an extension no other. */
function linkPackages(directory: string): void {
  const program = resolve('dist/src/main.js');
  execFileSync(process.execPath, [program, 'new', 'extension', 'toys'], { cwd: directory });
  const manifest = readFileSync(join(directory, 'toys/package.json'), 'utf8');
  const { peerDependencies, devDependencies } = JSON.parse(manifest) as Record<string, object>;
  expect(Object.keys(devDependencies!)).toEqual(
    expect.arrayContaining(Object.keys(peerDependencies!)),
  );
  // The recipe for GraphQL says that it needs `graphql`.
  for (const name of [...Object.keys(devDependencies!), 'graphql']) {
    if (name === 'pet-store-service') continue;
    const link = join(directory, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve('node_modules', name), link);
  }
}

it('docs/extending.md and docs/recipes.md have snippets that compile with the packages of a new extension', () => {
  using directory = new TemporaryDirectory();
  const write = (name: string, text: string) => {
    writeFileSync(join(directory.path, name), text);
    return name;
  };
  const files = ['extending', 'recipes'].flatMap((page) => {
    const guide = readFileSync(`docs/${page}.md`, 'utf8');
    return Array.from(guide.matchAll(SNIPPET), ([, text], index) =>
      write(`${page}-${index}.ts`, text!),
    );
  });
  expect(files.length).toBeGreaterThan(5);
  linkPackages(directory.path);
  write('package.json', '{ "type": "module" }');
  const configuration = {
    extends: resolve('tsconfig.json'),
    compilerOptions: {
      noEmit: true,
      incremental: false,
      noUnusedLocals: false,
      rootDir: '/',
      typeRoots: [resolve('node_modules/@types')],
    },
    // Declarations of packages that have none.
    include: [resolve('src/**/*.d.ts')],
    files,
  };
  write('tsconfig.json', JSON.stringify(configuration));
  const tsc = resolve('node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', directory.path], { encoding: 'utf8' });
  expect(stdout).toBe('');
}, 180_000);
