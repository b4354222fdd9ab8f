// The bench measures on current releases, whichever the machine has.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { root } from '../settings.mjs';

const LTS = '24';
const FOLDER = `${root}node_modules/.cache/node-${LTS}`;
/** PostgreSQL, Go and others. What cannot be installed is taken from the machine. */
export const RUNTIMES = `${root}node_modules/.cache/runtimes`;
const HOOK = `${root}bench/load/sqlite-of-release.mjs`;

/** Environment variables of every program in Node. */
export function runtimeEnv() {
  const { PATH, NODE_OPTIONS = '', BETTER_SQLITE3 = '' } = process.env;
  return { PATH, NODE_OPTIONS, BETTER_SQLITE3 };
}

export function isOnCurrent() {
  return process.env.BETTER_SQLITE3 !== undefined;
}

/**
 * Runs the bench on the LTS of Node, and with current releases of the other programs. The first
 * time, all are installed, and SQLite is compiled for Node with full optimisation.
 * @returns {number} the exit status
 */
export function runOnCurrent(args) {
  const bin = `${FOLDER}/bin`;
  if (!existsSync(`${bin}/node`)) {
    console.log(`Installing Node ${LTS} and compiling SQLite for it (takes 2 minutes)...`);
    const env = { ...process.env, CFLAGS: '', CXXFLAGS: '' };
    const options = { env, stdio: 'inherit' };
    if (spawnSync(`${root}.ci/install-node`, [LTS, FOLDER], options).status !== 0) return 1;
  }
  if (!existsSync(RUNTIMES)) {
    console.log('Installing PostgreSQL, Go, Bun and Valkey (takes a minute)...');
    spawnSync(`${root}.ci/install-runtimes`, [RUNTIMES], { stdio: 'inherit' });
  }
  const env = {
    ...process.env,
    PATH: `${bin}:${RUNTIMES}/bin:${process.env.PATH}`,
    ...(process.version.startsWith('v20.') && { NODE_20: process.execPath }),
    NODE_OPTIONS: `--import ${HOOK}`,
    BETTER_SQLITE3: `${FOLDER}/node_modules/better-sqlite3/lib/index.js`,
  };
  return spawnSync(`${bin}/node`, args, { env, stdio: 'inherit' }).status ?? 1;
}
