import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { BanLedger } from './ban-ledger.js';
import { Limits } from './limits.js';
import type { MemoryStore } from './memory.store.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';
import type { RedisStore, SharedDecision } from './redis.store.js';
import { dayOf, minuteOf } from './windows.js';

const PROBE_INTERVAL_MS = 500;
const PROBE_SUBJECT = 'probe';
const PROBE_LIMITS = new Limits(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, false);

/**
 * Counts in Redis, and in this process where Redis fails.
 *
 * The first failure, be it a refusal or silence, turns to the counters of this process for everyone; a
 * probe that really writes finds out when Redis is back. No request waits longer than one command may
 * take, and none is failed for it.
 *
 * Nothing is refilled on either way. What Redis answers is copied into the process' counters, so that
 * these go on from there. And where Redis answers with less than is known here (it was flushed or
 * restarted empty, or this node has counted meanwhile) it is raised to that. While Redis is away each
 * node admits up to what is left by its own knowledge: with n nodes at most n times that.
 *
 * Bans made by any node reach every node through the ledger in the database, whichever counters are in
 * use; they are judged here first.
 */
@Injectable()
export class FallbackStore extends RateLimitStore implements OnApplicationShutdown {
  private usesRedis = true;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly redis: RedisStore,
    private readonly memory: MemoryStore,
    private readonly bans: BanLedger,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {
    super();
    metrics.setCounterStore('redis');
    this.timer = setInterval(() => void this.probe(), PROBE_INTERVAL_MS).unref();
  }

  get mode(): 'redis' | 'fallback' {
    return this.usesRedis ? 'redis' : 'fallback';
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  take(subject: string, limits: Limits): Decision | Promise<Decision> {
    if (!this.usesRedis || this.memory.isBanned(subject)) return this.memory.take(subject, limits);
    return this.takeShared(subject, limits);
  }

  async peek(subject: string): Promise<Decision> {
    if (!this.usesRedis || this.memory.isBanned(subject)) return this.memory.peek(subject);
    try {
      return await this.redis.peek(subject);
    } catch (error) {
      this.degrade(error);
      return this.memory.peek(subject);
    }
  }

  /** @throws where Redis cannot be told: its ban would outlive this */
  async unban(subject: string): Promise<void> {
    this.memory.unban(subject);
    await this.redis.unban(subject);
  }

  private async takeShared(subject: string, limits: Limits): Promise<Decision> {
    let decision: SharedDecision;
    try {
      decision = await this.redis.take(subject, limits);
    } catch (error) {
      this.degrade(error);
      return this.memory.take(subject, limits);
    }
    this.mirror(subject, decision);
    return decision;
  }

  private mirror(subject: string, { nowMs, minuteUsed, dayUsed, ban }: SharedDecision): void {
    if (ban !== undefined && !this.memory.isBanned(subject)) {
      this.memory.restoreBan(subject, ban);
      this.bans
        .record(subject, ban)
        .catch((err: unknown) => this.logger.error({ err, subject }, 'A ban could not be saved'));
    }
    const count = { subject, minute: minuteOf(nowMs), minuteUsed, day: dayOf(nowMs), dayUsed };
    const known = this.memory.restore(count);
    const isBehind =
      (known.day === count.day && known.dayUsed > dayUsed) ||
      (known.minute === count.minute && known.minuteUsed > minuteUsed);
    // A failure is noticed by the next request, and this is done again.
    if (isBehind) void this.redis.raise(known).catch(() => undefined);
  }

  private degrade(err: unknown): void {
    if (!this.usesRedis) return;
    this.usesRedis = false;
    this.metrics.setCounterStore('fallback');
    this.logger.error({ err }, 'Redis does not answer: this node counts requests by itself');
  }

  private async probe(): Promise<void> {
    if (this.usesRedis) return;
    try {
      await this.redis.take(PROBE_SUBJECT, PROBE_LIMITS);
    } catch {
      return;
    }
    this.usesRedis = true;
    this.metrics.setCounterStore('redis');
    this.logger.info({}, 'Redis answers again: requests are counted together');
  }
}
