import type { Socket } from 'node:net';
import type { Cluster, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import { ConfigError } from '../config/config.js';
import { batchPerTick } from '../time/batch-per-tick.js';
import { atMost } from '../time/within.js';
import { Deadlines } from './deadlines.js';
import { refuseMisfit, refuseNoCluster } from './misfit.js';

/** A request is not kept waiting for its counter longer than this. */
const COMMAND_TIMEOUT_MS = 100;
/** For connecting, and for what is asked of a Redis before it is used. */
const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_MS = 250;
/** A connection that says nothing for so long may be dead without anybody having been told. */
const SILENCE_MS = 500;

const OPTIONS = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // A dead connection does not answer a farewell either; waiting for one delays its successor, and the exit.
  disconnectTimeout: COMMAND_TIMEOUT_MS,
  // While it loads its data, Redis guesses how long that takes; a guess must not hold up the return.
  maxLoadingRetryTime: RECONNECT_MS,
  // What cannot be asked now is answered without: a queue would only make everyone wait.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: () => RECONNECT_MS,
  // A replica that was a primary a moment ago: look for the new one.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions;

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

/**
 * @param url `redis://...`; several, separated by commas, are the nodes of a cluster
 * @param timeoutMs after which a command is given up
 * @throws {ConfigError} where it is no Redis that can count
 */
export async function connectRedis(
  url: string,
  timeoutMs = COMMAND_TIMEOUT_MS,
): Promise<RedisClient> {
  // Loaded on demand: a single node does not pay for it.
  const { Cluster, Redis } = await import('ioredis');
  const urls = url.split(',');
  const options = { ...OPTIONS, socketTimeout: Math.max(timeoutMs, CONNECT_TIMEOUT_MS) };
  const [connection, attempt, trouble] =
    urls.length === 1
      ? begin(new Redis(url, options), connectToOne)
      : begin(
          new Cluster(urls, {
            lazyConnect: true,
            enableOfflineQueue: false,
            clusterRetryStrategy: () => RECONNECT_MS,
            redisOptions: { ...options, ...credentialsOf(urls[0]!) },
            ...(isEncrypted(urls[0]!) && { dnsLookup: asNamed }),
          }),
          connectToEveryShard,
        );
  try {
    // A Redis that is away must not keep a server from starting; it is connected to when it is back.
    await atMost(CONNECT_TIMEOUT_MS, attempt);
  } catch (error) {
    connection.disconnect();
    throw error;
  }
  return new IoRedisClient(connection, timeoutMs, trouble);
}

/** Why there is no connection, in its own words; nothing of one that is ready. */
interface Trouble {
  said: string | undefined;
}

/** Of a cluster, with that of the node which was asked last. */
interface ConnectionError extends Error {
  lastNodeError?: Error;
}

function begin<Connection extends Redis | Cluster>(
  connection: Connection,
  connect: (connection: Connection) => Promise<void>,
): [Connection, Promise<void>, Trouble] {
  const trouble: Trouble = { said: undefined };
  // The words alone: the error of a password that is wrong has the password. Without a listener the process
  // would end.
  connection.on('error', ({ message, lastNodeError }: ConnectionError) => {
    trouble.said = lastNodeError?.message ?? message;
  });
  connection.on('ready', () => (trouble.said = undefined));
  const attempt = connect(connection).catch((error: unknown) => {
    if (error instanceof ConfigError) throw error;
  });
  // Nobody may be waiting for it any more.
  attempt.catch(() => undefined);
  return [connection, attempt, trouble];
}

async function connectToOne(redis: Redis): Promise<void> {
  await redis.connect();
  await refuseMisfit(redis);
}

/** Left to itself, a cluster connects to a shard with the first command for it, which then is late. */
async function connectToEveryShard(cluster: Cluster): Promise<void> {
  const isReady = new Promise<void>((resolve) => {
    cluster.on('ready', () => void connectShards(cluster).then(resolve));
  });
  // Not before it is ready: until then its nodes are only those that it was told of.
  cluster.on('+node', () => setImmediate(() => void connectShards(cluster)));
  let answer: Error | undefined;
  cluster.on('node error', (error: Error) => (answer = error));
  try {
    await cluster.connect();
  } catch (error) {
    refuseNoCluster(answer);
    throw error;
  }
  await isReady;
}

async function connectShards(cluster: Cluster): Promise<void> {
  if (cluster.status !== 'ready') return;
  const unconnected = cluster.nodes().filter(({ status }) => status === 'wait');
  await Promise.all(unconnected.map((node) => node.connect().catch(() => undefined)));
}

/** The nodes that a cluster tells of are told by address alone. */
function credentialsOf(url: string): RedisOptions {
  const { username, password } = new URL(url);
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(isEncrypted(url) && { tls: {} }),
  };
}

function isEncrypted(url: string): boolean {
  return new URL(url).protocol === 'rediss:';
}

/** A certificate names a host: told its address alone, TLS would find nobody there whom it may believe. */
const asNamed: ClusterOptions['dnsLookup'] = (host, callback) => callback(null, host);

type ScriptCommand = (key: string, ...args: (string | number)[]) => Promise<unknown>;

const corked = batchPerTick<Socket>((streams) => {
  for (const stream of streams) stream.uncork();
});

/** The commands of one turn of the event loop leave in one packet: each write costs more than a command. */
function gather(stream: Socket | undefined): void {
  if (stream === undefined) return;
  stream.cork();
  corked(stream);
}

class IoRedisClient extends RedisClient {
  private readonly commands = new Map<Script, ScriptCommand>();
  private readonly deadlines: Deadlines;
  private silentSinceMs: number | undefined;

  constructor(
    private readonly connection: Redis | Cluster,
    timeoutMs: number,
    private readonly trouble: Readonly<Trouble>,
  ) {
    super();
    this.deadlines = new Deadlines(timeoutMs, () => this.noteSilence());
  }

  async run(script: Script, key: string, args: readonly (string | number)[]): Promise<unknown> {
    let command = this.commands.get(script);
    if (command === undefined) {
      this.connection.defineCommand(script.name, { numberOfKeys: 1, lua: script.lua });
      // Defined by a name that the types cannot know.
      const defined = this.connection as unknown as Record<string, ScriptCommand>;
      command = defined[script.name]!.bind(this.connection);
      this.commands.set(script, command);
    }
    if ('stream' in this.connection) gather(this.connection.stream);
    try {
      const reply = await this.deadlines.bound(command(key, ...args));
      this.silentSinceMs = undefined;
      return reply;
    } catch (error) {
      throw this.explained(error as Error);
    }
  }

  private explained(error: Error): Error {
    const { said } = this.trouble;
    return said === undefined ? error : new Error(`${said} (${error.message})`);
  }

  private noteSilence(): void {
    const nowMs = performance.now();
    this.silentSinceMs ??= nowMs;
    if (nowMs - this.silentSinceMs < SILENCE_MS) return;
    this.silentSinceMs = undefined;
    this.connection.disconnect(true);
  }

  disconnect(): void {
    this.connection.disconnect();
  }
}
