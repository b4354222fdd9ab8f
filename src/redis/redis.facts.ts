import type { RedisOptions } from 'ioredis';
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

/** Rejects where it cannot be reached, or can never count. */
export async function redisFacts(url: string, isCluster: boolean): Promise<RedisFacts> {
  const { Redis } = await import('ioredis');
  const options: RedisOptions = {
    lazyConnect: true,
    connectTimeout: PATIENCE_MS,
    commandTimeout: PATIENCE_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  };
  const redis = new Redis(url, options);
  let said: Error | undefined;
  redis.on('error', (error: Error) => (said = error));
  try {
    await redis.connect().catch((error: Error) => {
      throw said ?? error;
    });
    if (!isCluster) await refuseMisfit(redis);
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
  } finally {
    redis.disconnect();
  }
}
