import { setTimeout } from 'node:timers/promises';
import type { Cluster, Redis, RedisOptions } from 'ioredis';

/** A request is not kept waiting for its counter longer than this. */
const COMMAND_TIMEOUT_MS = 100;
const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_MS = 250;

const OPTIONS: RedisOptions = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  commandTimeout: COMMAND_TIMEOUT_MS,
  // What cannot be asked now is answered without: a queue would only make everyone wait.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: () => RECONNECT_MS,
  // A replica that was a primary a moment ago: look for the new one.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
};

/** Redis, or a Redis Cluster. */
export abstract class RedisClient {
  /** Runs a script by its SHA-1, and loads it where Redis does not know it (any more). */
  abstract run(script: Script, key: string, args: readonly (string | number)[]): Promise<unknown>;

  abstract disconnect(): void;
}

/** A Lua script on one key. */
export interface Script {
  name: string;
  lua: string;
}

/** @param url `redis://...`; several, separated by commas, are the nodes of a cluster */
export async function connectRedis(url: string): Promise<RedisClient> {
  // Loaded on demand: a single node does not pay for it.
  const { Cluster, Redis } = await import('ioredis');
  const urls = url.split(',');
  const connection =
    urls.length === 1
      ? new Redis(url, OPTIONS)
      : new Cluster(urls, {
          lazyConnect: true,
          enableOfflineQueue: false,
          clusterRetryStrategy: () => RECONNECT_MS,
          redisOptions: OPTIONS,
        });
  // Whoever sends a command hears of its failure; without a listener the process would end.
  connection.on('error', () => undefined);
  // A Redis that is away must not keep a server from starting; it is connected to when it is back.
  const attempt = connection.connect().catch(() => undefined);
  await Promise.race([attempt, setTimeout(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
  return new IoRedisClient(connection);
}

type ScriptCommand = (key: string, ...args: (string | number)[]) => Promise<unknown>;

class IoRedisClient extends RedisClient {
  private readonly commands = new Map<Script, ScriptCommand>();

  constructor(private readonly connection: Redis | Cluster) {
    super();
  }

  run(script: Script, key: string, args: readonly (string | number)[]): Promise<unknown> {
    let command = this.commands.get(script);
    if (command === undefined) {
      this.connection.defineCommand(script.name, { numberOfKeys: 1, lua: script.lua });
      const defined = this.connection as unknown as Record<string, ScriptCommand>;
      command = defined[script.name]!.bind(this.connection);
      this.commands.set(script, command);
    }
    return command(key, ...args);
  }

  disconnect(): void {
    this.connection.disconnect();
  }
}
