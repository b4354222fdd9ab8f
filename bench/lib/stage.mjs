// A temporary directory and the programs that run in it. It is removed after all have ended.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SERVER_CORE } from '../settings.mjs';
import { runtimeEnv } from './runtime.mjs';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const LOG_LINES = 15;
const MAX_OUTPUT = 1e8;
const execute = promisify(execFile);

/** @typedef {{name: string, pid: number, port: number, readyMs: number}} Running and `stop()` */

export class Stage {
  directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  /** Running programs with the signals that end them, in the order of their start. */
  #children = new Map();

  constructor() {
    // PostgreSQL runs with another account, in a directory below this one.
    chmodSync(this.directory, 0o755);
  }

  path(name) {
    return join(this.directory, name);
  }

  /**
   * Starts a program on one core; resolves once it is ready.
   * @param {{name: string, command?: string, args: string[], env?: object, port: number,
   *   core?: string, account?: object, stopSignal?: string, isReady(): Promise<boolean>}} program
   * @returns {Promise<Running>}
   */
  async start({ name, command = process.execPath, args, env, port, account, isReady, ...others }) {
    const { core = SERVER_CORE, stopSignal = 'SIGTERM' } = others;
    const log = this.path(`${name}-${port}.log`);
    const output = openSync(log, 'a');
    const began = performance.now();
    const child = spawn('taskset', ['-c', core, command, ...args], {
      cwd: this.directory,
      // Without the environment of the caller: its DATABASE_URL must not be loaded.
      env: { ...runtimeEnv(), HOME: this.directory, ...env },
      stdio: ['ignore', output, output],
      ...account,
    });
    this.#children.set(child, stopSignal);
    child.once('exit', () => this.#children.delete(child));
    closeSync(output);
    while (!(await isReady().catch(() => false))) {
      const isLate = performance.now() - began > START_TIMEOUT_MS;
      if (!this.#children.has(child) || isLate) {
        const lines = readFileSync(log, 'utf8').trim().split('\n').slice(-LOG_LINES);
        throw new Error(`${name} did not start:\n${lines.join('\n')}`);
      }
      await pause(5);
    }
    const readyMs = performance.now() - began;
    return { name, pid: child.pid, port, readyMs, stop: () => this.#end(child) };
  }

  /** Runs a program to its end. @returns its standard output @throws if it fails */
  async run(command, args, options = {}) {
    const defaults = { cwd: this.directory, maxBuffer: MAX_OUTPUT };
    return (await execute(command, args, { ...defaults, ...options })).stdout;
  }

  /** Ends all programs in reverse order, so that none loses a program that it uses. */
  async close() {
    for (const child of [...this.#children.keys()].reverse()) await this.#end(child);
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #end(child) {
    const stopSignal = this.#children.get(child);
    if (stopSignal === undefined) return;
    const exited = once(child, 'exit');
    child.kill(stopSignal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  }
}

/** A port that is free at this moment. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  return port;
}

/** Whether an HTTP server responds with a status below 500. */
export async function responds(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await response.arrayBuffer();
  return response.status < 500;
}
