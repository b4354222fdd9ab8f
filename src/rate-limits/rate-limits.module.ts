import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config/config.js';
import { RedisClient } from '../redis/redis.client.js';
import { Logger } from '../telemetry/logger.js';
import { BanRepository } from './bans/ban.repository.js';
import { RateLimitBan } from './bans/rate-limit-ban.entity.js';
import { CounterRepository } from './counter.repository.js';
import { RateLimitCounter } from './rate-limit-counter.entity.js';
import { RateLimiter } from './rate-limiter.js';
import { FallbackStore } from './stores/fallback.store.js';
import { MemoryStore } from './stores/memory.store.js';
import { RateLimitStore } from './stores/rate-limit-store.js';
import { RedisStore } from './stores/redis.store.js';
import { CurrentCounts } from './current-counts.js';

/** Counters in Redis if it is configured, otherwise in this process. */
function chooseStore(
  memory: MemoryStore,
  client: RedisClient | undefined,
  config: Config,
  logger: Logger,
): RateLimitStore {
  if (client === undefined) return memory;
  return new FallbackStore(new RedisStore(client, config), memory, logger);
}

const PROVIDERS = [
  MemoryStore,
  {
    provide: RateLimitStore,
    inject: [MemoryStore, { token: RedisClient, optional: true }, Config, Logger],
    useFactory: chooseStore,
  },
  BanRepository,
  CounterRepository,
  CurrentCounts,
  RateLimiter,
];

/** Counters and bans, for the server and for the command line. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([RateLimitBan, RateLimitCounter])],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class RateLimitsModule {}
