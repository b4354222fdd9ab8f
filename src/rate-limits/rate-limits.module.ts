import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config/config.js';
import { RedisClient } from '../redis/redis.client.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock, SteadyClock } from '../time/clock.js';
import { BanLedger } from './bans/ban-ledger.js';
import type { BanPolicy } from './bans/bans.js';
import { RateLimitBan } from './bans/rate-limit-ban.entity.js';
import { CounterJournalEntry } from './counter-journal.entity.js';
import { CounterLedger } from './counter-ledger.js';
import { SharedNames } from './names.js';
import { RateLimitCounter } from './rate-limit-counter.entity.js';
import { RateLimiter } from './rate-limiter.js';
import { FallbackStore } from './stores/fallback.store.js';
import { MemoryStore } from './stores/memory.store.js';
import { RateLimitStore } from './stores/rate-limit-store.js';
import { RedisStore } from './stores/redis.store.js';
import { Usage } from './usage.js';

function banPolicy({ banAfterRejections, banSeconds }: Config): BanPolicy {
  return { afterRejections: banAfterRejections, firstBanMs: banSeconds * 1000 };
}

/** Counters in Redis if it is configured, otherwise in this process. */
function chooseStore(
  memory: MemoryStore,
  client: RedisClient | undefined,
  config: Config,
  metrics: Metrics,
  logger: Logger,
): RateLimitStore {
  if (client === undefined) {
    metrics.setQuotaStore('memory');
    return memory;
  }
  const redis = new RedisStore(client, banPolicy(config));
  return new FallbackStore(redis, memory, metrics, logger);
}

/** What counts, and what was counted. */
@Module({
  imports: [TypeOrmModule.forFeature([RateLimitBan, RateLimitCounter, CounterJournalEntry])],
  providers: [
    {
      provide: MemoryStore,
      inject: [Clock, Config, SharedNames],
      useFactory: (clock: Clock, config: Config, names: SharedNames) =>
        new MemoryStore(new SteadyClock(clock), banPolicy(config), names),
    },
    {
      provide: RateLimitStore,
      inject: [MemoryStore, { token: RedisClient, optional: true }, Config, Metrics, Logger],
      useFactory: chooseStore,
    },
    SharedNames,
    BanLedger,
    CounterLedger,
    Usage,
    RateLimiter,
  ],
  exports: [RateLimitStore, RateLimiter, MemoryStore, SharedNames, BanLedger, CounterLedger, Usage],
})
export class RateLimitsModule {}
