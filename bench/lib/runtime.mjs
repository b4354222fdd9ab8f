// The bench measures on the current LTS of Node, whichever release of Node starts it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { root } from '../settings.mjs';

export const LTS = '24';
const FOLDER = `${root}node_modules/.cache/node-${LTS}`;
const HOOK = `${root}bench/load/sqlite-of-release.mjs`;

/** Environment variables of every program in Node. */
export function runtimeEnv() {
  const { PATH, NODE_OPTIONS = '', BETTER_SQLITE3 = '' } = process.env;
  return { PATH, NODE_OPTIONS, BETTER_SQLITE3 };
}

export function isOnLts() {
  return process.versions.node.startsWith(`${LTS}.`);
}

/**
 * Runs the bench on the LTS. The first time, the release is installed, and SQLite is compiled for
 * it with full optimisation.
 * @returns {number} the exit status
 */
export function runOnLts(args) {
  const bin = `${FOLDER}/bin`;
  if (!existsSync(`${bin}/node`)) {
    console.log(`Installing Node ${LTS} and compiling SQLite for it (takes 2 minutes)...`);
    const env = { ...process.env, CFLAGS: '', CXXFLAGS: '' };
    const options = { env, stdio: 'inherit' };
    if (spawnSync(`${root}.ci/install-node`, [LTS, FOLDER], options).status !== 0) return 1;
  }
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env.PATH}`,
    NODE_OPTIONS: `--import ${HOOK}`,
    BETTER_SQLITE3: `${FOLDER}/node_modules/better-sqlite3/lib/index.js`,
  };
  return spawnSync(`${bin}/node`, args, { env, stdio: 'inherit' }).status ?? 1;
}
