import type { RedisOptions } from 'ioredis';
import { ConfigError } from '../config/config.js';
import { refuseMisfit } from './misfit.js';

const PATIENCE_MS = 2_000;

/** What a look from outside tells of a Redis. */
export interface RedisFacts {
  version: string;
  latencyMs: number;
  /** What it throws away where its memory is full; undefined where it may take all there is. */
  evictionPolicy: string | undefined;
  /** By how much its clock is ahead of ours. */
  clockAheadMs: number;
}

/** It answers, and takes no command until it has read all that it saved. */
export class RedisLoadingError extends Error {
  constructor() {
    super('it loads its data');
  }
}

/** Rejects where it cannot be reached, cannot count yet, or can never. */
export async function redisFacts(url: string, isCluster: boolean): Promise<RedisFacts> {
  const { Redis } = await import('ioredis');
  const options: RedisOptions = {
    lazyConnect: true,
    connectTimeout: PATIENCE_MS,
    commandTimeout: PATIENCE_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    // It would wait until Redis has loaded its data, however long that takes.
    enableReadyCheck: false,
  };
  const redis = new Redis(url, options);
  let said: Error | undefined;
  redis.on('error', (error: Error) => (said = error));
  try {
    await redis.connect();
    if (!isCluster) await refuseMisfit(redis);
    if (/^loading:1/m.test(await redis.info('persistence'))) throw new RedisLoadingError();
    const [server, memory] = [await redis.info('server'), await redis.info('memory')];
    const begun = performance.now();
    await redis.ping();
    const latencyMs = Math.round((performance.now() - begun) * 10) / 10;
    const askedMs = Date.now();
    const [seconds, micros] = (await redis.time()).map(Number);
    const clockAheadMs = seconds! * 1_000 + micros! / 1_000 - (askedMs + Date.now()) / 2;
    const isBounded = /^maxmemory:[1-9]/m.test(memory);
    return {
      version: /^redis_version:(\S+)/m.exec(server)?.[1] ?? 'unknown',
      latencyMs,
      evictionPolicy: isBounded ? /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] : undefined,
      clockAheadMs,
    };
  } catch (error) {
    const isOurs = error instanceof ConfigError || error instanceof RedisLoadingError;
    throw isOurs ? error : (said ?? error);
  } finally {
    redis.disconnect();
  }
}
