// `npm run build:service`: compiles the service, and copies the files that it serves to the same
// paths below dist/.
import { spawnSync } from 'node:child_process';
import { cpSync, utimesSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ASSETS = [
  'src/docs/page',
  'src/docs/page.html',
  'src/docs/reference.html',
  'src/admin/console',
  'docs/clients.md',
  'docs/extending.md',
  'docs/tutorial.md',
  'clients/petstore.http',
  'clients/petstore.postman_collection.json',
  'clients/typescript/README.md',
];

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
for (const path of ASSETS) cpSync(path, `dist/${path}`, { recursive: true });
const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
// Standard output belongs to the command that runs next (build-if-stale.mjs).
const options = { stdio: ['ignore', process.stderr, 'inherit'] };
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], options);
if (status !== 0) process.exit(1);
// tsc does not touch it if nothing has changed: build-if-stale.mjs would build again.
utimesSync('dist/.tsbuildinfo', new Date(), new Date());
