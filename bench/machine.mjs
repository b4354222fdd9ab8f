// Checks the requirements of the bench, and describes the machine for the page.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, totalmem, type as system, release } from 'node:os';
import { delimiter, join } from 'node:path';
import { root } from './settings.mjs';

/** Programs, their Debian packages, and folders outside the path. */
const PROGRAMS = {
  wrk: { from: 'wrk' },
  taskset: { from: 'util-linux' },
  go: { from: 'golang-go' },
  gcc: { from: 'gcc' },
  pgx: {
    from: 'golang-github-jackc-pgx-v4-dev',
    beside: ['/usr/share/gocode/src/github.com/jackc'],
  },
  'sqlite3.h': { from: 'libsqlite3-dev', beside: ['/usr/include', '/usr/local/include'] },
  initdb: {
    from: 'postgresql',
    beside: [18, 17, 16, 15, 14].map((version) => `/usr/lib/postgresql/${version}/bin`),
  },
};

/** @throws if a second core or a program is missing */
export function assertCapable(programs) {
  const missing = [];
  if (cpus().length < 2) missing.push('a second core for the load generator');
  missing.push(...missingPrograms(programs));
  if (missing.length > 0) throw new Error(`The bench requires ${missing.join(', ')}`);
}

/** The path of a program; undefined if it is not installed. */
export function findProgram(name) {
  const folders = [...process.env.PATH.split(delimiter), ...(PROGRAMS[name].beside ?? [])];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** The programs that are not installed, each with the command that installs it. */
export function missingPrograms(programs) {
  return programs
    .filter((program) => findProgram(program) === undefined)
    .map((program) => `${program} (apt-get install ${PROGRAMS[program].from})`);
}

/** System, processor, cores and memory in one line. */
export function describeMachine() {
  const [{ model }] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  const [kernel] = /^\d+\.\d+/.exec(release()) ?? [release()];
  return `${system()} ${kernel}, ${model.trim()}, ${cpus().length} cores, ${gibibytes} GiB`;
}

/** Versions of all programs and packages that take part. */
export function versions() {
  const installed = (name, folder = '') => {
    const manifest = `${root}${folder}node_modules/${name}/package.json`;
    return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : 'missing';
  };
  return {
    'Node.js': process.version.slice(1),
    Nest: installed('@nestjs/core'),
    Fastify: installed('fastify'),
    'better-sqlite3': installed('better-sqlite3'),
    TypeORM: installed('typeorm'),
    pg: installed('pg'),
    PostgreSQL: versionOf('initdb', ['--version']),
    // Its only option for this, and its exit code is 1.
    wrk: versionOf('wrk', ['-v']),
    Bun: installed('bun', 'bench/'),
    Elysia: installed('elysia', 'bench/'),
    Go: versionOf('go', ['version']),
  };
}

function versionOf(program, args) {
  if (findProgram(program) === undefined) return 'missing';
  let output;
  try {
    output = execFileSync(findProgram(program), args, { encoding: 'utf8' });
  } catch (error) {
    output = `${error.stdout}${error.stderr}`;
  }
  return /\d+(\.\d+)+/.exec(output)?.[0] ?? 'unknown';
}
