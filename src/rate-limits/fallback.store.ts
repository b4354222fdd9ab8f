import { type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type Logger } from '../telemetry/logger.js';
import { type Metrics } from '../telemetry/metrics.js';
import { type BanLedger } from './ban-ledger.js';
import type { Limits } from './limits.js';
import type { MemoryStore } from './memory.store.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';
import type { RedisStore, SharedDecision } from './redis.store.js';
import { dayOf, minuteOf } from './windows.js';

const PROBE_INTERVAL_MS = 250;
const NOBODY = 'nobody';

/**
 * Counts in Redis, and in this process where Redis fails.
 *
 * The first failure, be it a refusal or silence, turns to the counters of this process for everyone; a
 * probe that really writes, to that part of Redis which failed, finds out when it is back. A node that is
 * asked nothing probes as well, so that it always says truly where it counts. No request waits longer than
 * one command may take, and none is failed for it.
 *
 * Nothing is refilled on either way. What Redis answers is copied into the process' counters, so that
 * these go on from there; what these know is sent along with every request, so that Redis goes on from
 * there. While Redis is away each node admits up to what is left by its own knowledge, and on return the
 * highest count holds, not the sum: with n nodes at most n times what was left is admitted.
 *
 * Bans made by any node reach every node through the ledger in the database, whichever counters are in
 * use; they are judged here first.
 */
export class FallbackStore
  extends RateLimitStore
  implements OnApplicationBootstrap, OnApplicationShutdown
{
  private usesRedis = true;
  /** Whether Redis was asked since the last look at it. */
  private wasAsked = false;
  private failedSubject = NOBODY;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly redis: RedisStore,
    private readonly memory: MemoryStore,
    private readonly bans: BanLedger,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {
    super();
    metrics.setCounterStore('redis');
  }

  async onApplicationBootstrap(): Promise<void> {
    this.timer = setInterval(() => void this.lookAfter(), PROBE_INTERVAL_MS).unref();
    await this.probe();
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
      this.degrade(error, subject);
      return this.memory.peek(subject);
    }
  }

  /** Where Redis cannot be told, the nodes tell it: they know from the ledger that the ban was lifted. */
  async unban(subject: string): Promise<void> {
    this.memory.unban(subject);
    await this.redis.unban(subject).catch(() => undefined);
  }

  private async takeShared(subject: string, limits: Limits): Promise<Decision> {
    let decision: SharedDecision;
    try {
      this.wasAsked = true;
      decision = await this.redis.take(subject, limits, this.memory.known(subject));
    } catch (error) {
      this.degrade(error, subject);
      return this.memory.take(subject, limits);
    }
    this.mirror(subject, decision);
    return decision;
  }

  private mirror(subject: string, { nowMs, minuteUsed, dayUsed, ban }: SharedDecision): void {
    // One that is known may have been lifted while this answer was on its way.
    const knownBan = this.memory.known(subject)?.ban;
    if (ban !== undefined && (knownBan === undefined || ban.at > knownBan.at)) {
      this.memory.restoreBan(subject, ban);
      this.bans
        .record(subject, ban)
        .catch((err: unknown) => this.logger.error({ err, subject }, 'A ban could not be saved'));
    }
    const [minute, day] = [minuteOf(nowMs), dayOf(nowMs)];
    this.memory.restore({ subject, minute, minuteUsed, day, dayUsed });
  }

  private degrade(err: unknown, subject: string): void {
    if (!this.usesRedis) return;
    this.usesRedis = false;
    this.failedSubject = subject;
    this.metrics.setCounterStore('fallback');
    this.logger.error({ err }, 'Redis does not answer: this node counts requests by itself');
  }

  private async lookAfter(): Promise<void> {
    if (!this.usesRedis || !this.wasAsked) await this.probe();
    this.wasAsked = false;
  }

  private async probe(): Promise<void> {
    const subject = this.failedSubject;
    try {
      await this.redis.probe(subject);
    } catch (error) {
      this.degrade(error, subject);
      return;
    }
    if (this.usesRedis) return;
    this.usesRedis = true;
    this.metrics.setCounterStore('redis');
    this.logger.info({}, 'Redis answers again: requests are counted together');
  }
}
