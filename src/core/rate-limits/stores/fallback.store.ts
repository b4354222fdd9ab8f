import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { RedisUnavailableError } from '../../redis/redis-error.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Limits } from '../limits.js';
import type { MemoryStore } from './memory.store.js';
import { type Decision, RateLimitStore, type WindowCount } from './rate-limit-store.js';
import type { RedisStore } from './redis.store.js';

const PROBE_INTERVAL_MS = 100;

/**
 * Counts in Redis, and in this process while Redis fails.
 *
 * - A command that fails, or has no reply after half a second (`redis.client.ts`), switches all
 *   requests to this process's counters. A shorter pause of Redis, or a lost connection that is
 *   open again within this time, delays requests. No request fails.
 * - Counts are exact, except that a request counts twice if the connection is lost between the
 *   count and its reply: never more than the limit is admitted.
 * - Every reply of Redis is mirrored in memory, so counting continues from there. Counts of an
 *   outage are not transferred to Redis: n nodes admit up to n times what was left of the quota
 *   according to the last reply that each of them received.
 * - Probes find out when Redis is back: they count in the slot of Redis that failed. The node
 *   returns with the first reply. Idle nodes probe too, so their reported mode is current.
 * - Bans, and their ends, reach every node through the database, and Redis with the next request of
 *   the client.
 */
export class FallbackStore
  extends RateLimitStore
  implements OnApplicationBootstrap, OnApplicationShutdown
{
  mode: 'shared' | 'fallback' = 'shared';
  private failedKey = 'none';
  private loggedFix: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly redis: RedisStore,
    private readonly memory: MemoryStore,
    private readonly logger: Logger,
  ) {
    super();
  }

  onApplicationBootstrap(): Promise<void> {
    return this.probe();
  }

  onApplicationShutdown(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  take(key: string, limits: Limits): Promise<Decision> {
    const shared = async () => {
      const decision = await this.redis.take(key, limits, this.memory.banOf(key));
      this.memory.mirror({ key, ...decision });
      if (decision.newBan !== undefined) this.memory.restoreBan(key, decision.newBan);
      return decision;
    };
    return this.choose(key, shared, () => this.memory.take(key, limits));
  }

  peek(key: string): Promise<Decision> {
    const shared = () => this.redis.peek(key, this.memory.banOf(key));
    return this.choose(key, shared, () => this.memory.peek(key));
  }

  count(key: string, windowMs: number): Promise<WindowCount> {
    const shared = () => this.redis.count(key, windowMs);
    return this.choose(key, shared, () => this.memory.count(key, windowMs));
  }

  /** Asks Redis, and this process while Redis fails. */
  private async choose<Result>(
    key: string,
    shared: () => Promise<Result>,
    local: () => Result,
  ): Promise<Result> {
    if (this.mode === 'fallback') return local();
    try {
      return await shared();
    } catch (error) {
      this.fallBack(error, key);
      return local();
    }
  }

  private fallBack(error: unknown, key: string): void {
    const { message: reason, fix } = error as RedisUnavailableError;
    if (this.mode === 'fallback' && fix === this.loggedFix) return;
    this.mode = 'fallback';
    this.failedKey = key;
    this.loggedFix = fix;
    this.logger.error({ reason }, 'Redis is unreachable; falling back to per-node counters');
  }

  private async probe(): Promise<void> {
    try {
      await this.redis.probe(this.failedKey);
      if (this.mode === 'fallback') {
        this.logger.info({}, 'Redis is reachable; using shared counters again');
      }
      this.mode = 'shared';
    } catch (error) {
      this.fallBack(error, this.failedKey);
    }
    if (this.isStopped) return;
    this.timer = setTimeout(() => void this.probe(), PROBE_INTERVAL_MS).unref();
  }
}
