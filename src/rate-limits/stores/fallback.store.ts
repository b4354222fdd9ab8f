import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from '../../telemetry/logger.js';
import type { FurtherLimit, Limits } from '../limits.js';
import type { MemoryStore } from './memory.store.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';
import type { RedisStore } from './redis.store.js';

const PROBE_INTERVAL_MS = 100;

/**
 * Counts in Redis, and in this process while Redis fails.
 *
 * - A command that fails, or has no reply after half a second (`redis.client.ts`), switches all
 *   requests to this process's counters. A shorter pause of Redis delays requests, and the counts
 *   stay exact. No request fails.
 * - Every reply of Redis is mirrored in memory, so counting continues from there. Counts of an
 *   outage are not transferred to Redis: n nodes admit up to n times what was left of the quota
 *   according to the last reply that each of them received.
 * - Probes find out when Redis is back: they write to the slot of Redis that failed. The node
 *   returns with the first reply. An idle node probes as well, so its reported mode is right.
 * - Bans, and their ends, reach every node through the database, and Redis with the next request of
 *   the client.
 */
export class FallbackStore
  extends RateLimitStore
  implements OnApplicationBootstrap, OnApplicationShutdown
{
  mode: 'shared' | 'fallback' = 'shared';
  private failedSubject = 'none';
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

  async take(subject: string, limits: Limits, further?: FurtherLimit): Promise<Decision> {
    if (this.mode === 'shared') {
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

  async peek(subject: string): Promise<Decision> {
    if (this.mode === 'fallback') return this.memory.peek(subject);
    try {
      return await this.redis.peek(subject, this.memory.banOf(subject));
    } catch (error) {
      this.fallBack(error, subject);
      return this.memory.peek(subject);
    }
  }

  private fallBack(error: unknown, subject: string): void {
    if (this.mode === 'fallback') return;
    this.mode = 'fallback';
    this.failedSubject = subject;
    const reason = (error as Error).message;
    this.logger.error({ reason }, 'Redis is unreachable; falling back to per-node counters');
  }

  private async probe(): Promise<void> {
    try {
      await this.redis.probe(this.failedSubject);
      if (this.mode === 'fallback') {
        this.logger.info({}, 'Redis is reachable; using shared counters again');
      }
      this.mode = 'shared';
    } catch (error) {
      this.fallBack(error, this.failedSubject);
    }
    if (this.isStopped) return;
    this.timer = setTimeout(() => void this.probe(), PROBE_INTERVAL_MS).unref();
  }
}
