import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TemporaryDirectory } from '../support/temporary-directory.js';

const SNIPPET = /^```ts\n(.*?)^```/gms;

it('docs/extending.md has snippets that compile', () => {
  using directory = new TemporaryDirectory();
  const write = (name: string, text: string) => {
    writeFileSync(join(directory.path, name), text);
    return name;
  };
  const guide = readFileSync('docs/extending.md', 'utf8');
  const files = Array.from(guide.matchAll(SNIPPET), ([, text]) => text!).map((text, index) =>
    write(`snippet-${index}.ts`, text),
  );
  expect(files.length).toBeGreaterThan(5);
  symlinkSync(resolve('node_modules'), join(directory.path, 'node_modules'));
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

it('docs/extending.md links only to files of the package', () => {
  const pack = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const [{ files }] = JSON.parse(execFileSync('npm', pack, { encoding: 'utf8' })) as [
    { files: { path: string }[] },
  ];
  const guide = readFileSync('docs/extending.md', 'utf8');
  const links = Array.from(guide.matchAll(/\]\((?!#|https:)([^)#]+)/g), ([, link]) => link!);
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) {
    const target = join('docs', link);
    expect([link, files.some(({ path }) => path.startsWith(target))]).toEqual([link, true]);
  }
});
