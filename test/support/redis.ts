import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** Slots of every Redis Cluster. */
const SLOTS = 16_384;

/** A private Redis without persistence. */
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

  /** A Redis Cluster with evenly distributed slots. */
  static async startCluster(
    program: string,
    shards: number,
    ...options: string[]
  ): Promise<RedisServer[] & AsyncDisposable> {
    const servers: RedisServer[] = [];
    const busPorts: number[] = [];
    for (let shard = 0; shard < shards; shard++) {
      // The default, port + 10,000, may exceed the range of ports.
      const busPort = await freePort();
      busPorts.push(busPort);
      const own = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), ...options];
      servers.push(await RedisServer.start(program, ...own));
    }
    const [first] = servers;
    for (const [shard, server] of servers.entries()) {
      const bounds = [shard, shard + 1].map((each) => Math.floor((each * SLOTS) / shards));
      await server.call('CLUSTER', 'ADDSLOTSRANGE', String(bounds[0]), String(bounds[1]! - 1));
      if (server === first) continue;
      const bus = String(busPorts[shard]);
      await first!.call('CLUSTER', 'MEET', '127.0.0.1', String(server.port), bus);
    }
    for (const server of servers) {
      await eventually(async () => {
        const slots = (await server.call('CLUSTER', 'SLOTS')) as unknown[];
        const info = String(await server.call('CLUSTER', 'INFO'));
        return info.includes('state:ok') && slots.length === shards;
      });
    }
    const remove = async (): Promise<void> => {
      for (const server of servers) await server.remove();
    };
    return Object.assign(servers, { [Symbol.asyncDispose]: remove });
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async run(...more: string[]): Promise<void> {
    const always = ['--port', String(this.port), '--bind', '127.0.0.1'];
    const options = [...always, '--save', '', '--appendonly', 'no', ...this.options, ...more];
    this.child = spawn(this.program, options, { cwd: this.directory, stdio: 'ignore' });
    const deadline = performance.now() + 60_000;
    while (performance.now() < deadline) {
      if ((await this.call('PING').catch(() => undefined)) === 'PONG') return;
      await new Promise((resume) => setTimeout(resume, 25));
    }
    throw new Error('Redis did not start');
  }

  /** Executes one command on a new connection. */
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

  /** Suspends the server; connections stay open. */
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
