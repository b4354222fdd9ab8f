import { findEngine } from '../../test/support/engines.js';
import { eventually } from '../../test/support/eventually.js';
import { FaultProxy } from '../../test/support/fault-proxy.js';
import { freePort } from '../../test/support/free-port.js';
import { type Served, Workplace } from '../../test/support/petstore-process.js';
import { PostgresServer } from '../../test/support/postgres.js';
import { RedisServer } from '../../test/support/redis.js';

const ENV = {
  NODE_ENV: 'production',
  LOG_LEVEL: 'error',
  METRICS_PORT: '0',
  // The auditor of the limit rejects many requests.
  BAN_AFTER_REJECTIONS: '0',
  // The auditor of the revocation uses a revoked key.
  FAILED_AUTH_PER_MINUTE: '1000000',
  FAILED_AUTH_PER_DAY: '1000000000',
};
const HEALED_WITHIN_MS = 60_000;

/** A server process with its own way to PostgreSQL and to Redis. */
export class ClusterNode {
  /** Since when PostgreSQL is in reach of a running process; undefined while it is not. */
  reachesDatabaseSince: number | undefined = performance.now();
  restarts = 0;
  private server: Served | undefined;
  private fallbacksSeen = 0;
  /** Those of a process that was killed. */
  private fallbacksBefore = 0;

  constructor(
    readonly name: string,
    readonly database: FaultProxy,
    readonly redis: FaultProxy,
    private readonly workplace: Workplace,
    private readonly env: Record<string, string>,
  ) {}

  get origin(): string {
    return `http://127.0.0.1:${this.env['PORT']}`;
  }

  async start(): Promise<void> {
    this.server ??= await this.workplace.serve(this.env);
  }

  async kill(): Promise<void> {
    await this.server?.stop('SIGKILL');
    this.fallbacksBefore = this.newFallbacks();
    this.server = undefined;
    this.fallbacksSeen = 0;
    this.restarts++;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    if (this.server !== undefined) process.kill(this.server.pid, signal);
  }

  /** How often the node fell back to its own counters since the last call, as its log says. */
  newFallbacks(): number {
    const found = this.server?.output().match(/falling back/gi)?.length ?? 0;
    const count = this.fallbacksBefore + found - this.fallbacksSeen;
    this.fallbacksBefore = 0;
    this.fallbacksSeen = found;
    return count;
  }

  async isHealthy(): Promise<boolean> {
    const answer = await fetch(`${this.origin}/health/ready`).catch(() => undefined);
    return answer !== undefined && ((await answer.json()) as { status: string }).status === 'ok';
  }
}

/** Three nodes on one PostgreSQL and one Redis. */
export class Cluster implements AsyncDisposable {
  private constructor(
    readonly nodes: readonly ClusterNode[],
    readonly postgres: PostgresServer,
    readonly redis: RedisServer,
    private readonly workplace: Workplace,
    private readonly proxies: readonly FaultProxy[],
  ) {}

  static async start(size: number): Promise<Cluster> {
    const postgres = await PostgresServer.start(findEngine('postgres')!);
    const redis = await RedisServer.start(findEngine('redis')!);
    const databaseUrl = await postgres.createDatabase();
    // The command line reaches PostgreSQL without a proxy.
    const workplace = new Workplace({ ...ENV, DATABASE_URL: databaseUrl });
    await workplace.run('migrate');
    const [nodes, proxies]: [ClusterNode[], FaultProxy[]] = [[], []];
    for (let index = 0; index < size; index++) {
      const database = await FaultProxy.start(postgres.port);
      const counters = await FaultProxy.start(redis.port);
      const env = {
        PORT: String(await freePort()),
        DATABASE_URL: databaseUrl.replace(String(postgres.port), String(database.port)),
        REDIS_URL: `redis://127.0.0.1:${counters.port}`,
      };
      nodes.push(new ClusterNode(`node ${index}`, database, counters, workplace, env));
      proxies.push(database, counters);
    }
    const cluster = new Cluster(nodes, postgres, redis, workplace, proxies);
    await cluster.heal();
    return cluster;
  }

  /** Runs a command, which must succeed. */
  async run<Output>(...command: string[]): Promise<Output> {
    return (await this.workplace.json(...command)) as Output;
  }

  /** Waits until every node is ready and counts in Redis. */
  async heal(): Promise<void> {
    for (const node of this.nodes) await node.start();
    for (const node of this.nodes) {
      await eventually(() => node.isHealthy(), HEALED_WITHIN_MS);
      node.reachesDatabaseSince ??= performance.now();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.workplace.remove();
    for (const proxy of this.proxies) await proxy.close();
    await this.redis.remove();
    await this.postgres.remove();
  }
}
