import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { Metrics } from '../telemetry/metrics.js';
import { connectRedis, RedisClient } from './redis.client.js';

async function connect({ redisUrl }: Config, metrics: Metrics): Promise<RedisClient | undefined> {
  const durations = metrics.histogram({
    name: 'redis_command_duration_seconds',
    help: 'Time from a command to its reply or its time-out.',
  });
  return redisUrl === undefined ? undefined : connectRedis(redisUrl, { durations });
}

/** The optional client; undefined without `REDIS_URL`. */
@Module({})
export class RedisModule implements OnApplicationShutdown {
  constructor(@Inject(RedisClient) private readonly client: RedisClient | undefined) {}

  static forRoot(): DynamicModule {
    return {
      module: RedisModule,
      global: true,
      providers: [
        {
          provide: RedisClient,
          // After the database: if that fails, the start ends, and an open connection would keep the process alive.
          inject: [Config, Metrics, DataSource],
          useFactory: connect,
        },
      ],
      exports: [RedisClient],
    };
  }

  onApplicationShutdown(): void {
    this.client?.disconnect();
  }
}
