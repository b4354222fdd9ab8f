import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import type { FurtherLimit, Limits } from '../limits.js';
import type { RateLimitKey } from '../rate-limit-key.js';
import type { MemoryStore } from './memory.store.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';
import type { RedisStore } from './redis.store.js';

const PROBE_INTERVAL_MS = 250;
/**
 * Successful probes in a row before Redis is used again, so that an unstable Redis does not cause
 * constant changes.
 */
const PROBES_BEFORE_RETURN = 6;

/**
 * Counts in Redis, and in this process while Redis fails.
 *
 * - The first failure or timeout switches all requests to the counters of this process. No request
 *   fails or waits longer than one command may take.
 * - Every answer of Redis is mirrored in memory, so counting goes on from there. Counts made
 *   meanwhile are not transferred to Redis: with n nodes, up to n times the remaining quota may be
 *   admitted during an outage.
 * - Probes that write, to the part of Redis that failed, find out when it is back; the node
 *   switches back after six in a row. An idle node probes as well, so its reported mode is right.
 * - Bans, and their ends, reach every node through the database, and Redis with the next request of
 *   the client.
 */
export class FallbackStore
  extends RateLimitStore
  implements OnApplicationBootstrap, OnApplicationShutdown
{
  private usesRedis = true;
  private failedSubject: RateLimitKey = 'none';
  private goodProbes = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly redis: RedisStore,
    private readonly memory: MemoryStore,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {
    super();
    metrics.setQuotaStore('redis');
  }

  async onApplicationBootstrap(): Promise<void> {
    this.timer = setInterval(() => void this.probe(), PROBE_INTERVAL_MS).unref();
    await this.probe();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  get mode(): 'redis' | 'fallback' {
    return this.usesRedis ? 'redis' : 'fallback';
  }

  async take(subject: RateLimitKey, limits: Limits, further?: FurtherLimit): Promise<Decision> {
    if (this.usesRedis) {
      try {
        const known = this.memory.banOf(subject);
        const decision = await this.redis.take(subject, limits, known, further);
        this.memory.mirror({ subject, ...decision });
        if (decision.newBan !== undefined) this.memory.restoreBan(subject, decision.newBan);
        return decision;
      } catch (error) {
        this.fallBack(error, subject);
      }
    }
    return this.memory.take(subject, limits, further);
  }

  async peek(subject: RateLimitKey): Promise<Decision> {
    if (!this.usesRedis) return this.memory.peek(subject);
    try {
      return await this.redis.peek(subject, this.memory.banOf(subject));
    } catch (error) {
      this.fallBack(error, subject);
      return this.memory.peek(subject);
    }
  }

  private fallBack(error: unknown, subject: RateLimitKey): void {
    this.goodProbes = 0;
    if (!this.usesRedis) return;
    this.usesRedis = false;
    this.failedSubject = subject;
    this.metrics.setQuotaStore('fallback');
    const reason = (error as Error).message;
    this.logger.error({ reason }, 'Redis is unreachable: fallback to counting on this node alone');
  }

  private async probe(): Promise<void> {
    try {
      await this.redis.probe(this.failedSubject);
    } catch (error) {
      this.fallBack(error, this.failedSubject);
      return;
    }
    if (this.usesRedis || ++this.goodProbes < PROBES_BEFORE_RETURN) return;
    this.usesRedis = true;
    this.metrics.setQuotaStore('redis');
    this.logger.info({}, 'Redis is reachable again: requests are counted together');
  }
}
