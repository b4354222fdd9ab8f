import { Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { Metrics } from '../telemetry/metrics.js';
import { connectRedis, RedisClient } from './redis.client.js';

/** Undefined without `REDIS_URL`. */
const CLIENT = {
  provide: RedisClient,
  // After the database: if that fails, the start ends, and an open connection would keep the
  // process alive.
  inject: [Config, Metrics, DataSource],
  useFactory: async ({ redisUrl }: Config, metrics: Metrics): Promise<RedisClient | undefined> => {
    const durations = metrics.histogram({
      name: 'redis_command_duration_seconds',
      help: 'Time from a command to its reply or its time-out.',
    });
    return redisUrl === undefined ? undefined : connectRedis(redisUrl, { durations });
  },
};

@Global()
@Module({ providers: [CLIENT], exports: [CLIENT] })
export class RedisModule {}
