// A temporary directory and the programs that run in it. It is removed after all programs have ended.
import { once } from 'node:events';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync, chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { end, endAll, launch } from './children.mjs';
import { SERVER_CORE } from './settings.mjs';

const START_TIMEOUT_MS = 60_000;
const LOG_LINES = 15;

/** @typedef {{name: string, pid: number, port: number, readyMs: number, stop(): Promise<void>}} Running */

export class Stage {
  directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));

  constructor() {
    // PostgreSQL runs with another account, in a directory below this one.
    chmodSync(this.directory, 0o755);
  }

  path(name) {
    return join(this.directory, name);
  }

  /**
   * Starts a program on the core for servers; resolves once it is ready.
   * @param {{name: string, command?: string, args: string[], env?: object, port: number,
   *   core?: number, account?: object, stopSignal?: string, isReady(): Promise<boolean>}} program
   * @returns {Promise<Running>}
   */
  async start(program) {
    const { name, command = process.execPath, args, env = {}, port, account = {} } = program;
    const { core = SERVER_CORE, stopSignal, isReady } = program;
    const log = this.path(`${name.replaceAll(/\W+/g, '-')}-${port}.log`);
    const output = openSync(log, 'a');
    const began = performance.now();
    const child = launch('taskset', ['-c', String(core), command, ...args], {
      cwd: this.directory,
      // Without the environment of the caller: its DATABASE_URL must not be loaded.
      env: { PATH: process.env.PATH, HOME: this.directory, ...env },
      stdio: ['ignore', output, output],
      stopSignal,
      ...account,
    });
    closeSync(output);
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
    return { name, pid: child.pid, port, readyMs, stop: () => end(child) };
  }

  /** Ends all programs in reverse order, then removes the directory. */
  async close() {
    await endAll();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function lastLines(file) {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-LOG_LINES).join('\n');
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
export async function answers(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  await response.arrayBuffer();
  return response.status < 500;
}
