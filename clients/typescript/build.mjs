// Builds the package into dist/: types from openapi.json, then JavaScript and declarations.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { write } from './generate.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

await write();
rmSync(here('dist'), { recursive: true, force: true });
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', here('tsconfig.build.json')], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
