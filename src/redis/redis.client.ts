import type { OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { Histogram } from 'prom-client';
import { TimeoutError, waitAtMost, withTimeout } from '../time/timeout.js';
import { RedisUnavailableError } from './redis-error.js';

/** Longest wait of a request for its counter. */
const COMMAND_TIMEOUT_MS = 100;
const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_MS = 250;

const OPTIONS = {
  lazyConnect: true,
  enableAutoPipelining: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // Reconnects if a command gets no reply for this long: the connection may be lost without notice.
  socketTimeout: CONNECT_TIMEOUT_MS,
  // A lost connection does not answer QUIT; waiting for it delays the reconnect and the exit.
  disconnectTimeout: COMMAND_TIMEOUT_MS,
  // Redis estimates how long it loads its data. Try more often than that.
  maxLoadingRetryTime: RECONNECT_MS,
  // Without a connection a command fails at once: a request does not wait for Redis to return.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: () => RECONNECT_MS,
  // A primary that became a replica: reconnect to find the new primary.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

/** A Lua script on one key. */
export interface Script {
  name: string;
  lua: string;
}

type ScriptCommand = (key: string, ...args: (string | number)[]) => Promise<unknown>;

/** Redis, or a Redis Cluster. */
export class RedisClient implements OnApplicationShutdown {
  /** The reason why there is no connection. */
  private lastError: Error | undefined;

  constructor(
    private readonly connection: Redis | Cluster,
    private readonly url: string,
    private readonly timeoutMs: number,
    private readonly durations: Histogram | undefined,
  ) {
    connection.on('error', (error: Error & { lastNodeError?: Error }) => {
      this.lastError = error.lastNodeError ?? error;
    });
    connection.on('ready', () => (this.lastError = undefined));
  }

  /**
   * Runs a script by its SHA-1, and loads it if Redis does not know it.
   * @throws {RedisUnavailableError} without a reply in time, or if Redis rejects the command
   */
  async run(script: Script, key: string, args: readonly (string | number)[]): Promise<unknown> {
    const startedAtMs = performance.now();
    try {
      return await withTimeout(this.timeoutMs, this.call(script, key, args));
    } catch (error) {
      const cause = this.lastError ?? (error as Error);
      const isSilent = cause instanceof TimeoutError;
      const reason = isSilent ? `did not answer within ${this.timeoutMs} ms` : cause.message;
      throw new RedisUnavailableError(this.url, reason);
    } finally {
      this.durations?.observe((performance.now() - startedAtMs) / 1000);
    }
  }

  onApplicationShutdown(): void {
    this.disconnect();
  }

  disconnect(): void {
    this.connection.disconnect();
  }

  private call({ name, lua }: Script, key: string, args: readonly (string | number)[]) {
    const commands = this.connection as object as Record<string, ScriptCommand | undefined>;
    if (commands[name] === undefined) this.connection.defineCommand(name, { numberOfKeys: 1, lua });
    return commands[name]!(key, ...args);
  }
}

/**
 * Resolves once Redis is connected, every shard of a cluster, or after a second: a server starts without Redis as well.
 * @param url `redis://...`; several, separated by commas, are nodes of a cluster
 */
export async function connectRedis(
  url: string,
  { timeoutMs = COMMAND_TIMEOUT_MS, durations }: { timeoutMs?: number; durations?: Histogram } = {},
): Promise<RedisClient> {
  // Loaded on demand: one node alone does not use it.
  const { Cluster, Redis } = await import('ioredis');
  const urls = url.split(',');
  const isCluster = urls.length > 1;
  const connection = isCluster
    ? new Cluster(urls, clusterOptions(new URL(urls[0]!)))
    : new Redis(url, OPTIONS);
  const client = new RedisClient(connection, urls[0]!, timeoutMs, durations);
  const connected =
    connection instanceof Cluster ? connectShards(connection) : connection.connect();
  await waitAtMost(
    CONNECT_TIMEOUT_MS + RECONNECT_MS,
    connected.catch(() => undefined),
  );
  return client;
}

/** Nodes are announced by address alone, so the credentials and TLS of the first URL apply to all. */
function clusterOptions({ protocol, username, password }: URL): ClusterOptions {
  const isEncrypted = protocol === 'rediss:';
  return {
    lazyConnect: true,
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: () => RECONNECT_MS,
    redisOptions: {
      ...OPTIONS,
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(isEncrypted && { tls: {} }),
    },
    // A certificate names a host, not its address.
    ...(isEncrypted && { dnsLookup: (host, callback) => callback(null, host) }),
  };
}

/** Left to itself, a cluster connects to a shard with the first command for it, which then exceeds its time. */
async function connectShards(cluster: Cluster): Promise<void> {
  const connectAll = async (): Promise<void> => {
    if (cluster.status !== 'ready') return;
    const waiting = cluster.nodes().filter(({ status }) => status === 'wait');
    await Promise.all(waiting.map((node) => node.connect().catch(() => undefined)));
  };
  const ready = new Promise<void>((resolve) => {
    cluster.on('ready', () => void connectAll().then(resolve));
  });
  cluster.on('+node', () => setImmediate(() => void connectAll()));
  await cluster.connect();
  await ready;
}
