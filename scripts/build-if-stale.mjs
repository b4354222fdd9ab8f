// Builds unless dist/ is newer than all sources.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = [
  'src',
  'docs',
  'scripts/build.mjs',
  'nest-cli.json',
  'ormconfig.ts',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
const BUILT = 'dist/.tsbuildinfo';

function newest(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(...readdirSync(path).map((name) => newest(`${path}/${name}`)));
}

function isStale() {
  const built = statSync(root + BUILT, { throwIfNoEntry: false });
  return built === undefined || SOURCES.some((path) => newest(root + path) > built.mtimeMs);
}

if (isStale()) {
  process.stderr.write('Building (sources are newer than dist/, takes 10 to 20 seconds)...\n');
  const startedAt = performance.now();
  const build = fileURLToPath(new URL('build.mjs', import.meta.url));
  const { status } = spawnSync(process.execPath, [build], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stderr.write(`Built in ${seconds} s; the next start needs no build.\n`);
}
