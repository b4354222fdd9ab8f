import type { Config } from '../config/config.js';
import { redisFacts, RedisLoadingError } from '../redis/redis.facts.js';

import {
  checkClock,
  describeOffset,
  failed,
  type Finding,
  ok,
  warning,
} from './doctor.findings.js';

/** A node counts on its own if a command takes longer than 100 ms. */
const FAIL_AFTER_MS = 100;
const WARN_AFTER_MS = 20;

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
  try {
    const { version, latencyMs, evictionPolicy, clockAheadMs } = await redisFacts(url, isCluster);
    const detail = `Redis ${version} at ${host}, ${latencyMs} ms`;
    const clock = checkClock(
      clockAheadMs,
      describeOffset(`the clock of Redis at ${host}`, clockAheadMs),
    );
    if (evictionPolicy !== undefined && evictionPolicy !== 'noeviction') {
      const fix = 'set maxmemory-policy to noeviction, and maxmemory to what is needed';
      return [failed('redis', `${detail}: may evict counters (${evictionPolicy})`, fix), clock];
    }
    const fix = 'use a Redis server that is closer or less busy';
    if (latencyMs > FAIL_AFTER_MS) return [failed('redis', detail, fix), clock];
    return [latencyMs > WARN_AFTER_MS ? warning('redis', detail, fix) : ok('redis', detail), clock];
  } catch (error) {
    const fix =
      error instanceof RedisLoadingError
        ? 'wait until it has loaded its data; until then each node counts on its own'
        : 'check that Redis runs and accepts connections from here, and correct REDIS_URL';
    return [failed('redis', `${host} cannot be used: ${(error as Error).message}`, fix)];
  }
}
