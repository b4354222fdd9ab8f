import type { RedisOptions } from 'ioredis';
import type { Config } from '../config/config.js';
import { RedisUnavailableError } from '../redis/redis-error.js';
import { checkClock, failed, type Finding, ok } from './doctor.findings.js';

const TIMEOUT_MS = 2_000;
const OPTIONS: RedisOptions = {
  lazyConnect: true,
  connectTimeout: TIMEOUT_MS,
  commandTimeout: TIMEOUT_MS,
  retryStrategy: () => null,
  // Otherwise ioredis waits until Redis has loaded its data.
  enableReadyCheck: false,
};

/** Checks every Redis of the configuration, and its clock. */
export async function checkRedis({ redisUrl }: Config): Promise<Finding[]> {
  if (redisUrl === undefined) {
    return [ok('redis', 'not configured: sufficient for one node, which counts in memory')];
  }
  const urls = redisUrl.split(',');
  const findings = await Promise.all(urls.map((url) => checkOne(url, urls.length > 1)));
  return findings.flat();
}

async function checkOne(url: string, isCluster: boolean): Promise<Finding[]> {
  const { host } = new URL(url);
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, OPTIONS);
  let failure: Error | undefined;
  redis.on('error', (error: Error) => (failure = error));
  try {
    await redis.connect();
    const [, version = ''] = /^redis_version:(\S+)/m.exec(await redis.info('server')) ?? [];
    // Fails if Redis still loads its data, and if it is a cluster but the configuration names one
    // address, or vice versa.
    await (isCluster ? redis.cluster('INFO') : redis.get('petstore'));
    const beforeMs = Date.now();
    const [seconds, micros] = (await redis.time()).map(Number);
    const aheadMs = seconds! * 1_000 + micros! / 1_000 - (beforeMs + Date.now()) / 2;
    const clock = checkClock(`the clock of Redis at ${host}`, aheadMs);
    return [ok('redis', `Redis ${version} at ${host}`), clock];
  } catch (error) {
    const { reason, fix } = new RedisUnavailableError(url, (failure ?? (error as Error)).message);
    return [failed('redis', `${host} cannot be used: ${reason}`, fix)];
  } finally {
    redis.disconnect();
  }
}
