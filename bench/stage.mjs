// A temporary directory, and the programs that run in it. All of them end before it is removed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync, chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SERVER_CORE } from './settings.mjs';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const LOG_LINES = 15;

/** @typedef {{name: string, pid: number, port: number, readyMs: number, stop(): Promise<void>}} Running */

export class Stage {
  directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  #children = new Set();

  constructor() {
    // PostgreSQL runs as somebody else, and has a directory of its own in here.
    chmodSync(this.directory, 0o755);
  }

  path(name) {
    return join(this.directory, name);
  }

  /**
   * Starts a program on the core of servers, and resolves once it is ready.
   * @param {{name: string, command?: string, args: string[], env?: object, port: number,
   *   core?: number, account?: object, stopSignal?: string, isReady(): Promise<boolean>}} program
   * @returns {Promise<Running>}
   */
  async start(program) {
    const { name, command = process.execPath, args, env = {}, port, account = {} } = program;
    const { core = SERVER_CORE, stopSignal = 'SIGTERM', isReady } = program;
    const log = this.path(`${name.replaceAll(/\W+/g, '-')}-${port}.log`);
    const output = openSync(log, 'a');
    const began = performance.now();
    const child = spawn('taskset', ['-c', String(core), command, ...args], {
      cwd: this.directory,
      // Nothing of the caller's own settings: a stray DATABASE_URL must not meet a load.
      env: { PATH: process.env.PATH, HOME: this.directory, ...env },
      stdio: ['ignore', output, output],
      ...account,
    });
    closeSync(output);
    this.#children.add({ child, stopSignal });
    let failure;
    child.once('error', (error) => (failure = error.message));
    while (!(await isReady().catch(() => false))) {
      if (child.exitCode !== null || child.signalCode !== null) failure = 'it ended';
      if (performance.now() - began > START_TIMEOUT_MS) failure = 'it was not ready in time';
      if (failure !== undefined)
        throw new Error(`${name} did not start: ${failure}\n${lastLines(log)}`);
      await wait(5);
    }
    const readyMs = performance.now() - began;
    return { name, pid: child.pid, port, readyMs, stop: () => this.#stop(child) };
  }

  async #stop(child) {
    for (const entry of this.#children) {
      if (entry.child !== child) continue;
      if (await end(entry)) this.#children.delete(entry);
    }
  }

  /** Ends all programs, the last one first, and then removes the directory. */
  async close() {
    for (const entry of [...this.#children].reverse()) await end(entry);
    this.#children.clear();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** By its signal, and where that is not heard by force. */
async function end({ child, stopSignal }) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return true;
  const exited = once(child, 'exit');
  child.kill(stopSignal);
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
  return true;
}

function lastLines(file) {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-LOG_LINES).join('\n');
}

/** A port that nobody listens on at this moment. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  return port;
}

/** Whether an HTTP server answers at all; an error of the client counts, one of the server does not. */
export async function answers(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await response.arrayBuffer();
  return response.status < 500;
}
