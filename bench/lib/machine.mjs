// Finds the programs that the bench needs, and describes the machine for the page.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, release, totalmem, type as system } from 'node:os';
import { delimiter, join } from 'node:path';
import { root } from '../settings.mjs';
import { RUNTIMES } from './runtime.mjs';

const GO_PACKAGES = '/usr/share/gocode/src/github.com';
/** By program: its package, of Debian by default, and folders outside the path. */
const PROGRAMS = {
  wrk: ['wrk'],
  taskset: ['util-linux'],
  go: ['golang-go'],
  bun: ['bun of npm'],
  'node-20': ['start the bench with it'],
  pgx: ['golang-github-jackc-pgx-v4-dev', `${GO_PACKAGES}/jackc`],
  'go-sqlite3': ['golang-github-mattn-go-sqlite3-dev', `${GO_PACKAGES}/mattn`],
  'redis-server': ['redis-server'],
  initdb: ['postgresql', ...[18, 17, 16, 15, 14].map((each) => `/usr/lib/postgresql/${each}/bin`)],
};

/** The path of a program; undefined if it is not installed. */
export function findProgram(name) {
  if (name === 'node-20') return process.env.NODE_20;
  const [, ...beside] = PROGRAMS[name];
  const folders = [...process.env.PATH.split(delimiter), ...beside];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** @returns {string[]} what is not installed, with its package */
export function missingPrograms(programs) {
  return programs
    .filter((program) => findProgram(program) === undefined)
    .map((program) => `${program} (${PROGRAMS[program][0]})`);
}

/** System, processor, cores and memory in one line. */
export function describeMachine() {
  const [{ model }] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  const [kernel] = /^\d+\.\d+/.exec(release()) ?? [release()];
  return `${system()} ${kernel}, ${model.trim()}, ${cpus().length} cores, ${gibibytes} GiB`;
}

/** Versions of the programs and packages that matter most. */
export function versions() {
  // Or Valkey, which has the same commands.
  const redis = printedBy('redis-server', '--version');
  const old = findProgram('node-20') && ` and ${numberIn(printedBy('node-20', '--version'))}`;
  return {
    'Node.js': process.version.slice(1) + (old ?? ''),
    Nest: versionOf('@nestjs/core'),
    Fastify: versionOf('fastify'),
    TypeORM: versionOf('typeorm'),
    'better-sqlite3': versionOf('better-sqlite3'),
    pg: versionOf('pg'),
    Go: numberIn(printedBy('go', 'version')),
    Bun: numberIn(printedBy('bun', '--version')),
    Elysia: versionOf('elysia', `${RUNTIMES}/`),
    PostgreSQL: numberIn(printedBy('initdb', '--version')),
    [redis.startsWith('Valkey') ? 'Valkey' : 'Redis']: numberIn(redis),
  };
}

function versionOf(name, folder = root) {
  const manifest = `${folder}node_modules/${name}/package.json`;
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : 'missing';
}

function printedBy(name, argument) {
  const program = findProgram(name);
  return program === undefined ? '' : execFileSync(program, [argument], { encoding: 'utf8' });
}

function numberIn(text) {
  return /\d+(\.\d+)+/.exec(text)?.[0] ?? 'missing';
}
