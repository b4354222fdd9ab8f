import { setTimeout as delay } from 'node:timers/promises';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { Histogram } from 'prom-client';
import { waitAtMost, withTimeout } from '../time/timeout.js';
import { RedisUnavailableError } from './redis-error.js';

/**
 * The longest wait of a request for its counter, once per outage. Longer than a pause of Redis that
 * is no outage (300 ms), because the backlog of commands also takes time.
 */
const COMMAND_TIMEOUT_MS = 500;
const DISCONNECT_TIMEOUT_MS = 100;
const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_MS = 50;
const RESEND_MS = 20;

const OPTIONS = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // Reconnects if a command gets no reply for this long: the connection may be lost without notice.
  socketTimeout: CONNECT_TIMEOUT_MS,
  // A lost connection does not reply to QUIT; waiting for it delays the reconnect and the exit.
  disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  // Without a connection a command fails immediately. `run()` sends it again, but never after its
  // timeout, which ioredis would do.
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

interface ConnectionError extends Error {
  /** Of a cluster. */
  lastNodeError?: Error;
  command?: { name: string };
}

type ScriptCommand = (key: string, ...args: readonly (string | number)[]) => Promise<unknown>;

/** Redis, or a Redis Cluster. */
export class RedisClient implements OnApplicationShutdown {
  /** The reason why there is no connection. */
  private lastError: Error | undefined;
  /** Redis rejected the database of the URL. The connection would continue in database 0. */
  private selectError: Error | undefined;

  constructor(
    private readonly connection: Redis | Cluster,
    private readonly url: string,
    readonly timeoutMs: number,
    private readonly durations: Histogram | undefined,
  ) {
    connection.on('error', (error: ConnectionError) => {
      this.lastError = error.lastNodeError ?? error;
      if (error.command?.name !== 'select') return;
      this.selectError = error;
      connection.disconnect(true);
    });
    connection.on('connect', () => (this.selectError = undefined));
    connection.on('ready', () => (this.lastError = undefined));
  }

  /** @throws {RedisUnavailableError} if Redis does not have the database of the URL */
  assertDatabase(): void {
    if (this.selectError) throw new RedisUnavailableError(this.url, this.selectError);
  }

  /** Adds a script, before the first command: pipelines only know scripts defined earlier. */
  define({ name, lua }: Script): void {
    this.connection.defineCommand(name, { numberOfKeys: 1, lua });
  }

  /**
   * Runs a script of `define()` by its SHA-1, and loads it if Redis does not know it. A lost
   * connection that can be opened again in time is no failure: the script is sent again. It runs
   * twice if only its reply was lost.
   * @throws {RedisUnavailableError} without a reply in time, or if Redis rejects the command
   */
  async run({ name }: Script, key: string, args: readonly (string | number)[] = []) {
    this.assertDatabase();
    const startedAtMs = performance.now();
    const commands = this.connection as object as Record<string, ScriptCommand>;
    const waiting = { isOver: false };
    try {
      return await withTimeout(
        this.timeoutMs,
        this.whileLost(waiting, () => commands[name]!(key, ...args)),
      );
    } catch (error) {
      throw new RedisUnavailableError(this.url, this.lastError ?? (error as Error));
    } finally {
      waiting.isOver = true;
      this.durations?.observe((performance.now() - startedAtMs) / 1000);
    }
  }

  /**
   * Repeats a command that failed without a reply of Redis, until nobody waits for it. After a
   * suspension of this process, ioredis closes the connection before it reads the replies.
   */
  private async whileLost(
    waiting: { isOver: boolean },
    send: () => Promise<unknown>,
  ): Promise<unknown> {
    for (;;) {
      try {
        return await send();
      } catch (error) {
        const isReply = (error as Error).name === 'ReplyError';
        if (isReply || waiting.isOver || this.connection.status === 'end') throw error;
      }
      await delay(RESEND_MS);
    }
  }

  onApplicationShutdown(): void {
    this.connection.disconnect();
  }
}

/**
 * Resolves once Redis is connected, every shard of a cluster, or after a second: a server starts
 * without Redis too.
 * @throws {RedisUnavailableError} if Redis does not have the database of the URL
 * @param url `redis://...`; several, separated by commas, or `?cluster=true` select a cluster
 */
export async function connectRedis(
  url: string,
  { timeoutMs = COMMAND_TIMEOUT_MS, durations }: { timeoutMs?: number; durations?: Histogram } = {},
): Promise<RedisClient> {
  // Loaded on demand: one node alone does not use it.
  const { Cluster, Redis } = await import('ioredis');
  const urls = url.split(',');
  const first = new URL(urls[0]!);
  // Managed clusters have one address.
  const isCluster = urls.length > 1 || first.searchParams.get('cluster') === 'true';
  // Redis 6 and later accepts a needless password then. Otherwise ioredis prints a line of its own.
  if (first.password) first.username ||= 'default';
  const connection = isCluster
    ? new Cluster(urls, clusterOptions(first))
    : new Redis(first.href, OPTIONS);
  const client = new RedisClient(connection, urls[0]!, timeoutMs, durations);
  const connected =
    connection instanceof Cluster ? connectShards(connection) : connection.connect();
  await waitAtMost(
    CONNECT_TIMEOUT_MS + RECONNECT_MS,
    connected.catch(() => undefined),
  );
  try {
    client.assertDatabase();
  } catch (error) {
    client.onApplicationShutdown();
    throw error;
  }
  return client;
}

/**
 * Nodes are announced by address alone, so the credentials and TLS of the first URL apply to all.
 */
function clusterOptions({ protocol, username, password }: URL): ClusterOptions {
  const isEncrypted = protocol === 'rediss:';
  return {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: () => RECONNECT_MS,
    redisOptions: {
      ...OPTIONS,
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
      ...(isEncrypted && { tls: {} }),
    },
    // A certificate names a host, not its address.
    ...(isEncrypted && { dnsLookup: (host, callback) => callback(null, host) }),
  };
}

/** By default, a shard is connected with the first command for it, which would then time out. */
async function connectShards(cluster: Cluster): Promise<void> {
  const connectNew = async () => {
    if (cluster.status !== 'ready') return;
    const shards = cluster.nodes().filter(({ status }) => status === 'wait');
    await Promise.all(shards.map((shard) => shard.connect().catch(() => undefined)));
  };
  const ready = new Promise<void>((resolve) => {
    cluster.on('ready', () => void connectNew().then(resolve));
  });
  cluster.on('+node', () => setImmediate(() => void connectNew()));
  await cluster.connect();
  await ready;
}
