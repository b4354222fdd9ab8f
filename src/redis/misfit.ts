import type { Redis } from 'ioredis';
import { ConfigError } from '../config/config.js';

const ADVICE: Partial<Record<string, string>> = {
  sentinel: 'must name the Redis that keeps the data: a Sentinel listens there',
  cluster:
    'names one node of a Redis Cluster: list several of its nodes, separated by commas, so that all of it is used',
};

/**
 * What answers, and yet can never count, is a mistake to be told at the start: taken for an outage, it would
 * leave every node counting by itself for ever.
 * @throws {ConfigError}
 */
export async function refuseMisfit(redis: Redis): Promise<void> {
  const [, mode = ''] = /^redis_mode:(\w+)/m.exec(await redis.info('server')) ?? [];
  const advice = ADVICE[mode];
  if (advice !== undefined) throw new ConfigError([`REDIS_URL ${advice}`]);
}

/**
 * @param answer of a node that was asked for its cluster
 * @throws {ConfigError}
 */
export function refuseNoCluster(answer: Error | undefined): void {
  if (!/cluster support disabled|unknown command/i.test(answer?.message ?? '')) return;
  throw new ConfigError([
    'REDIS_URL lists several addresses, the nodes of a Redis Cluster, but no cluster listens there',
  ]);
}
