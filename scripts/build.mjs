// `npm run build:service`: compiles the service, and copies the assets of nest-cli.json to the same
// paths below dist/, as `nest build` does. @nestjs/cli has many packages.
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { sourceRoot, compilerOptions } = JSON.parse(readFileSync('nest-cli.json', 'utf8'));
for (const asset of compilerOptions.assets) {
  const path = join(sourceRoot, asset.replace(/\/\*$/, ''));
  cpSync(path, join('dist', path), { recursive: true });
}
const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
// Standard output belongs to the command that runs next (build-if-stale.mjs).
const options = { stdio: ['ignore', process.stderr, 'inherit'] };
const { status } = spawnSync(process.execPath, [tsc, '-p', compilerOptions.tsConfigPath], options);
if (status !== 0) process.exit(1);
// tsc does not touch it if nothing has changed: build-if-stale.mjs would build again.
utimesSync('dist/.tsbuildinfo', new Date(), new Date());
