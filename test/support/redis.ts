import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.js';

/** A private Redis, in memory, on a port of its own. */
export class RedisServer implements AsyncDisposable {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly program: string,
    private readonly directory: string,
    readonly port: number,
    private readonly options: readonly string[],
  ) {}

  static async start(program: string, ...options: string[]): Promise<RedisServer> {
    const directory = mkdtempSync(join(tmpdir(), 'petstore-redis-'));
    const server = new RedisServer(program, directory, await freePort(), options);
    await server.run();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async run(...more: string[]): Promise<void> {
    const always = ['--save', '', '--appendonly', 'no', '--bind', '127.0.0.1'];
    const options = [...always, ...this.options, ...more];
    this.child = spawn(this.program, ['--port', String(this.port), ...options], {
      cwd: this.directory,
      stdio: 'ignore',
    });
    const deadline = performance.now() + 10_000;
    while (performance.now() < deadline) {
      if ((await this.call('PING').catch(() => undefined)) === 'PONG') return;
      await new Promise((resume) => setTimeout(resume, 25));
    }
    throw new Error('Redis did not start');
  }

  /** One command, on a connection of its own. */
  async call(command: string, ...args: string[]): Promise<unknown> {
    const redis = new Redis(this.url, {
      lazyConnect: true,
      enableReadyCheck: false,
      retryStrategy: () => null,
    });
    redis.on('error', () => undefined);
    try {
      await redis.connect();
      return await redis.call(command, ...args);
    } finally {
      redis.disconnect();
    }
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  /** It stands still; its connections stay open. */
  stall(): void {
    this.child!.kill('SIGSTOP');
  }

  resume(): void {
    this.child!.kill('SIGCONT');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
