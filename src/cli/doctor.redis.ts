import type { Config } from '../core/config/config.js';
import { addressRateLimitKey } from '../core/rate-limits/rate-limit-key.js';
import { RedisStore } from '../core/rate-limits/stores/redis.store.js';
import { connectRedis, type RedisClient, type Script } from '../core/redis/redis.client.js';
import type { RedisUnavailableError } from '../core/redis/redis-error.js';
import { checkClock, failed, type Finding, ok, warning } from './doctor.findings.js';

const TIMEOUT_MS = 2_000;
/** No client has this address. Its counters in Redis expire after two minutes. */
const SUBJECT = addressRateLimitKey('doctor');
const LIMITS = { perMinute: 1_000, perDay: 1_000_000 };
const INFO: Script = { name: 'petstoreInfo', lua: `return redis.call('INFO')` };

/** Counts requests in Redis, as a server does, and checks the clock and what may be evicted. */
export async function checkRedis(config: Config): Promise<Finding[]> {
  const { redisUrl } = config;
  if (redisUrl === undefined) return [ok('redis', 'not configured: fine for a single node')];
  const host = redisUrl
    .split(',')
    .map((url) => new URL(url).host)
    .join(', ');
  let client: RedisClient | undefined;
  try {
    client = await connectRedis(redisUrl, { timeoutMs: TIMEOUT_MS });
    client.define(INFO);
    const store = new RedisStore(client, config);
    // Sent as EVAL. On the same connection, the next one is sent as EVALSHA.
    await store.take(SUBJECT, LIMITS, undefined);
    const beforeMs = Date.now();
    const { nowMs } = await store.take(SUBJECT, LIMITS, undefined);
    const clock = checkClock(`Redis clock at ${host}`, nowMs - (beforeMs + Date.now()) / 2);
    return [await checkEviction(client, host), clock];
  } catch (error) {
    const { reason, fix } = error as RedisUnavailableError;
    return [failed('redis', reason, fix)];
  } finally {
    client?.onApplicationShutdown();
  }
}

async function checkEviction(client: RedisClient, host: string): Promise<Finding> {
  let info: string;
  try {
    info = String(await client.run(INFO, `petstore:${SUBJECT}`));
  } catch {
    // A server does not need INFO.
    const detail = `Redis at ${host} may evict counters: INFO, which would show it, failed`;
    return warning('redis', detail, 'grant +info to the user in REDIS_URL');
  }
  const [, version = 'of unknown version'] = /^redis_version:(\S+)/m.exec(info) ?? [];
  const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(info) ?? [];
  const detail = `Redis ${version} at ${host}`;
  if (policy === 'noeviction') return ok('redis', detail);
  return warning(
    'redis',
    `${detail} may evict counters (${policy})`,
    'set maxmemory-policy noeviction',
  );
}
