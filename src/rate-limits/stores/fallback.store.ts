import { type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type Logger } from '../../telemetry/logger.js';
import { type Metrics } from '../../telemetry/metrics.js';
import type { FurtherCount, FurtherLimit } from '../further-limit.js';
import type { Limits } from '../limits.js';
import type { MemoryStore } from './memory.store.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';
import type { RedisStore, SharedDecision } from './redis.store.js';

const PROBE_INTERVAL_MS = 250;
/** So many in a row make a steady Redis: of a wavering one, each turn costs exactness. */
const GOOD_PROBES = 6;
const NOBODY = 'nobody';

/**
 * Counts in Redis, and in this process where Redis fails.
 *
 * The first failure, be it a refusal or silence, turns to the counters of this process for everyone; probes
 * that really write, to that part of Redis which failed, find out when it is back, and answers in time
 * each time. A node that is
 * asked nothing probes as well, so that it always says truly where it counts. No request waits longer than
 * one command may take, and none is failed for it.
 *
 * Nothing is refilled on either way. What Redis answers is copied into the process' counters, so that
 * these go on from there; what these know is sent along with every request, so that Redis goes on from
 * there. While Redis is away each node admits up to what is left by its own knowledge, and on return the
 * highest count holds, not the sum: with n nodes at most n times what was left is admitted. Meanwhile the
 * database keeps all that these know of the day (`counter-journal.ts`): a restart refills nothing either.
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
  /** Since it failed. */
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
    this.timer = setInterval(() => void this.lookAfter(), PROBE_INTERVAL_MS).unref();
    await this.probe();
  }

  get mode(): 'redis' | 'fallback' {
    return this.usesRedis ? 'redis' : 'fallback';
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  take(subject: string, limits: Limits, further?: FurtherLimit): Decision | Promise<Decision> {
    if (!this.usesRedis || this.memory.isBanned(subject)) {
      return this.memory.take(subject, limits, further);
    }
    return this.takeShared(subject, limits, further);
  }

  /** What was used is known to Redis; where this node knows of more, as the next request is told, that counts. */
  async peek(subject: string): Promise<Decision> {
    if (!this.usesRedis) return this.memory.peek(subject);
    try {
      const shared = await this.redis.peek(subject);
      const known = this.memory.peek(subject);
      const { bannedUntilMs } = known;
      const { minute, day } = shared;
      const minuteUsed = minute === known.minute ? known.minuteUsed : 0;
      const dayUsed = day === known.day ? known.dayUsed : 0;
      return {
        ...shared,
        minuteUsed: Math.max(shared.minuteUsed, minuteUsed),
        dayUsed: Math.max(shared.dayUsed, dayUsed),
        ...(bannedUntilMs > 0 && { admitted: false, bannedUntilMs }),
      };
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

  private async takeShared(
    subject: string,
    limits: Limits,
    further: FurtherLimit | undefined,
  ): Promise<Decision> {
    const furtherCount = further && this.memory.furtherCount(subject, further);
    let decision: SharedDecision;
    try {
      this.wasAsked = true;
      const known = this.memory.known(subject);
      decision = await this.redis.take(subject, limits, known, further, furtherCount);
    } catch (error) {
      this.degrade(error, subject);
      return this.memory.take(subject, limits, further);
    }
    // Given up meanwhile: from then on what these counters do not admit, nobody does.
    const isLate = !this.usesRedis && decision.admitted;
    const told = isLate ? uncounted(decision) : decision;
    if (furtherCount !== undefined) learn(furtherCount, told.furtherCount);
    this.mirror(subject, limits, told);
    return isLate ? this.memory.take(subject, limits, further) : decision;
  }

  private mirror(subject: string, limits: Limits, decision: SharedDecision): void {
    const { minute, minuteUsed, day, dayUsed, ban } = decision;
    // One that is known may have been lifted while this answer was on its way.
    const knownBan = this.memory.known(subject)?.ban;
    if (ban !== undefined && (knownBan === undefined || ban.at > knownBan.at)) {
      this.memory.restoreBan(subject, ban);
      decision.newBan = ban;
    }
    this.memory.mirror({ subject, minute, minuteUsed, day, dayUsed }, limits);
  }

  private degrade(err: unknown, subject: string): void {
    this.goodProbes = 0;
    if (!this.usesRedis) return;
    this.usesRedis = false;
    this.failedSubject = subject;
    this.metrics.setQuotaStore('fallback');
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
    if (this.usesRedis || ++this.goodProbes < GOOD_PROBES) return;
    this.usesRedis = true;
    this.metrics.setQuotaStore('redis');
    this.logger.info({}, 'Redis answers again: requests are counted together');
  }
}

/** What Redis knew before the request that it has admitted. */
function uncounted(decision: SharedDecision): SharedDecision {
  const { minuteUsed, dayUsed, furtherCount } = decision;
  return {
    ...decision,
    minuteUsed: minuteUsed - 1,
    dayUsed: dayUsed - 1,
    furtherCount: furtherCount && { ...furtherCount, used: furtherCount.used - 1 },
  };
}

/** Takes over what Redis says, where it is more. */
function learn(known: FurtherCount, told: FurtherCount | undefined): void {
  if (told === undefined || told.window < known.window) return;
  known.used = told.window > known.window ? told.used : Math.max(known.used, told.used);
  known.window = told.window;
}
