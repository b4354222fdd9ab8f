import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { connectRedis, RedisClient } from '../redis/redis.client.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { BanRepository } from './bans/ban.repository.js';
import { RateLimitBan } from './bans/rate-limit-ban.entity.js';
import { CounterRepository } from './counter.repository.js';
import { RateLimitCounter } from './rate-limit-counter.entity.js';
import { RateLimiter } from './rate-limiter.js';
import { FallbackStore } from './stores/fallback.store.js';
import { MemoryStore } from './stores/memory.store.js';
import { RateLimitStore } from './stores/rate-limit-store.js';
import { RedisStore } from './stores/redis.store.js';

/** Undefined without `REDIS_URL`. */
function openRedis({ redisUrl }: Config, metrics: Metrics) {
  const durations = metrics.histogram({
    name: 'redis_command_duration_seconds',
    help: 'Time from a command to its reply or its time-out.',
  });
  return redisUrl === undefined ? undefined : connectRedis(redisUrl, { durations });
}

/** Counters in Redis if it is configured, otherwise in this process. */
function chooseStore(
  memory: MemoryStore,
  client: RedisClient | undefined,
  config: Config,
  logger: Logger,
) {
  if (client === undefined) return memory;
  return new FallbackStore(new RedisStore(client, config), memory, logger);
}

const PROVIDERS = [
  MemoryStore,
  {
    provide: RedisClient,
    // After the database: if that fails, the start ends, and an open connection would keep the
    // process alive.
    inject: [Config, Metrics, DataSource],
    useFactory: openRedis,
  },
  {
    provide: RateLimitStore,
    inject: [MemoryStore, RedisClient, Config, Logger],
    useFactory: chooseStore,
  },
  BanRepository,
  CounterRepository,
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
